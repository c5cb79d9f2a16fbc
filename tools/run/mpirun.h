/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's mpirun gives its own environment to the ranks on this machine. Ranks on other machines only get
 * the variables that it is told: by the parameter mca_base_env_list, or by the option -x. It refuses both at
 * once.
 */
#ifndef PHASEMUX_TOOLS_RUN_MPIRUN_H
#define PHASEMUX_TOOLS_RUN_MPIRUN_H

/*
 * Makes mpirun hand on the preload and the settings of the environment. Does it in the way in which the
 * command's own words, which end with NULL, hand on others: sets the environment, or returns the words with
 * options added. Returns NULL if the words need no change. The caller frees the list, but not its words.
 */
char **mpirun_tell(char *const *words);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The names under which programs call an MPI procedure, in C and Fortran, of each MPI and compiler. */
#ifndef PHASEMUX_TESTS_EVERY_FORM_H
#define PHASEMUX_TESTS_EVERY_FORM_H

#define FORMS 12

#define EVERY_FORM(DO, name, fortran)                                                              \
	DO(MPI_##name)                                                                             \
	DO(MPI_##name##_c)                                                                         \
	DO(mpi_##fortran##_)                                                                       \
	DO(mpi_##fortran)                                                                          \
	DO(mpi_##fortran##__)                                                                      \
	DO(mpi_##fortran##_cptr_)                                                                  \
	DO(mpi_##fortran##_f08_)                                                                   \
	DO(mpi_##fortran##_f08ts_)                                                                 \
	DO(mpi_##fortran##_f08_large_)                                                             \
	DO(mpi_##fortran##_f08ts_large_)                                                           \
	DO(mpi_##fortran##_c_f08_)                                                                 \
	DO(mpi_##fortran##_c_f08ts_)

#endif

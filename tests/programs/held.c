/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes what the process holds after MPI_Init to a file for each rank: the target of each descriptor, and the
 * mappings.
 *
 *	held FILE	writes FILE.0, FILE.1, ...
 */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void write_descriptors(FILE *file)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char link[4096];
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link));

		if (length > 0)
			fprintf(file, "descriptor %s %.*s\n", entry->d_name, (int)length, link);
	}
	if (folder)
		closedir(folder);
}

static void write_mappings(FILE *file)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		fprintf(file, "mapping %s", line);
	if (maps)
		fclose(maps);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *file;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	file = fopen(path, "w");
	if (!file)
		MPI_Abort(MPI_COMM_WORLD, 1);
	write_descriptors(file);
	write_mappings(file);
	fclose(file);
	MPI_Finalize();
	return 0;
}

#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Jacobi iteration with mpi4py, which opens the MPI library out of the linker's sight.

Argument: the number of iterations (default 200)."""
import ctypes
import sys

import numpy
from mpi4py import MPI

COLUMNS, ROWS = 512, 256

try:
    scripted = ctypes.CDLL(None).scripted_pmu_work
    scripted.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
except AttributeError:
    scripted = None

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
north = rank - 1 if rank > 0 else MPI.PROC_NULL
south = rank + 1 if rank < ranks - 1 else MPI.PROC_NULL
iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200

field = numpy.zeros((ROWS + 2, COLUMNS))
if rank == 0:
    field[0, :] = 1.0
change = numpy.zeros(1)
for iteration in range(iterations):
    world.Sendrecv(field[1], north, 1, field[ROWS + 1], south, 1)
    world.Sendrecv(field[ROWS], south, 2, field[0], north, 2)
    new = 0.25 * (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:])
    change[0] = numpy.abs(new - field[1:-1, 1:-1]).max()
    field[1:-1, 1:-1] = new
    if scripted:
        scripted(b"triad", 1500000)
    world.Allreduce(MPI.IN_PLACE, change, MPI.MAX)

total = world.reduce(float(field[1:-1].sum()))
if rank == 0:
    print(f"jacobi: {ranks} ranks, {iterations} iterations, {total:.12e}, {change[0]:.12e}")

! SPDX-License-Identifier: BSD-3-Clause
! A Jacobi solver in Fortran on a field cut into slabs. Its loop has no world collective. The slabs only
! exchange borders with their neighbours, and the result travels down the ranks.
!
! It is built three times: -DFLAVOUR_MPIF_H, -DFLAVOUR_MPI, -DFLAVOUR_F08.
! Argument: the number of iterations (default 200).
program solver
#if defined(FLAVOUR_F08)
  use mpi_f08
#elif defined(FLAVOUR_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  implicit none
#if defined(FLAVOUR_MPIF_H)
  include 'mpif.h'
#endif
#if defined(FLAVOUR_F08)
  type(MPI_Request) :: requests(4)
#else
  integer :: requests(4)
#endif
  integer, parameter :: columns = 256, rows = 128
  integer, parameter :: sweep_tag = 1, sum_tag = 2
  real(8), allocatable :: old(:, :), new(:, :)
  real(8) :: total(1), above(1)
  integer :: rank, ranks, north, south, iterations, iteration, i, j, ierror
  character(len=16) :: argument

  interface
    subroutine work_by_number(kernel, instructions) bind(c)
      import :: c_int, c_int64_t
      integer(c_int), value :: kernel
      integer(c_int64_t), value :: instructions
    end subroutine
  end interface

  iterations = 200
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) iterations
  end if

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  north = rank - 1
  if (rank == 0) north = MPI_PROC_NULL
  south = rank + 1
  if (rank == ranks - 1) south = MPI_PROC_NULL

  allocate (old(columns, 0:rows + 1), new(columns, 0:rows + 1))
  old = 0
  new = 0
  if (rank == 0) then
    old(:, 0) = 1
    new(:, 0) = 1
  end if

  do iteration = 1, iterations
    call MPI_Irecv(old(1, 0), columns, MPI_DOUBLE_PRECISION, north, sweep_tag, &
                   MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(old(1, rows + 1), columns, MPI_DOUBLE_PRECISION, south, sweep_tag, &
                   MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(old(1, 1), columns, MPI_DOUBLE_PRECISION, north, sweep_tag, &
                   MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(old(1, rows), columns, MPI_DOUBLE_PRECISION, south, sweep_tag, &
                   MPI_COMM_WORLD, requests(4), ierror)
    ! The first phase, while the borders travel: a division chain, as a source term has it.
    call work_by_number(2_c_int, 300000_c_int64_t)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    ! The second phase: the sweep, and a stream over memory.
    do j = 1, rows
      do i = 2, columns - 1
        new(i, j) = 0.25d0 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))
      end do
    end do
    old(:, 1:rows) = new(:, 1:rows)
    call work_by_number(0_c_int, 1500000_c_int64_t)
  end do

  ! The sum travels from the last rank to the first.
  total(1) = sum(old(:, 1:rows))
  if (rank < ranks - 1) then
    call MPI_Recv(above, 1, MPI_DOUBLE_PRECISION, south, sum_tag, MPI_COMM_WORLD, &
                  MPI_STATUS_IGNORE, ierror)
    total(1) = total(1) + above(1)
  end if
  if (rank > 0) then
    call MPI_Send(total, 1, MPI_DOUBLE_PRECISION, north, sum_tag, MPI_COMM_WORLD, ierror)
  else
    print '(a,i0,a,i0,a,es22.15)', 'solver: ', ranks, ' ranks, ', iterations, ' iterations, ', total(1)
  end if
  call MPI_Finalize(ierror)
end program

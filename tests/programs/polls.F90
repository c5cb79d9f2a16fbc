! SPDX-License-Identifier: BSD-3-Clause
! A program in Fortran that polls: it makes CALLS calls of MPI_Test, one after the other. With some MPIs each of
! them makes the call of C, which is intercepted as well. Built with -DFLAVOUR_F08, it uses mpi_f08.
!
!	polls CALLS
program polls
#if defined(FLAVOUR_F08)
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: error, i, calls
#if defined(FLAVOUR_F08)
  type(MPI_Request) :: request
  type(MPI_Status) :: status
#else
  integer :: request, status(MPI_STATUS_SIZE)
#endif
  logical :: flag
  character(len=16) :: argument

  call get_command_argument(1, argument)
  read (argument, *) calls
  call MPI_Init(error)
  request = MPI_REQUEST_NULL
  do i = 1, calls
    call MPI_Test(request, flag, status, error)
  end do
  call MPI_Finalize(error)
end program polls

! A program in Fortran that polls: so many calls of MPI_Test, one after the other. With some MPIs each of
! them makes the call of C, which is intercepted as well.
!
!	polls CALLS
program polls
  use mpi
  implicit none
  integer :: error, i, calls, request
  integer :: status(MPI_STATUS_SIZE)
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

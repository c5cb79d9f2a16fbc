! SPDX-License-Identifier: BSD-3-Clause
! Does the same as control.c, in Fortran. Built with -DFLAVOUR_F08, it uses mpi_f08.
!
!	control BEFORE PAUSED AFTER
program control
#if defined(FLAVOUR_F08)
  use mpi_f08
#else
  use mpi
#endif
  use iso_c_binding, only: c_int, c_int64_t
  implicit none
  interface
    subroutine work_by_number(kernel, instructions) bind(c)
      import :: c_int, c_int64_t
      integer(c_int), value :: kernel
      integer(c_int64_t), value :: instructions
    end subroutine work_by_number
  end interface
  integer :: error

  call MPI_Init(error)
  call part(number(1), 6000000_c_int64_t)
  call MPI_Pcontrol(0)
  call part(number(2), 3000000_c_int64_t)
  call MPI_Pcontrol(1)
  call part(number(3), 1500000_c_int64_t)
  call MPI_Finalize(error)

contains

  integer function number(argument)
    integer, intent(in) :: argument
    character(len=16) :: text

    call get_command_argument(argument, text)
    read (text, *) number
  end function number

  subroutine part(times, instructions)
    integer, intent(in) :: times
    integer(c_int64_t), intent(in) :: instructions
    integer :: i

    do i = 1, times
      call work_by_number(3_c_int, instructions)
      call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
  end subroutine part
end program control

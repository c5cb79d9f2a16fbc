! SPDX-License-Identifier: BSD-3-Clause
! The head of each guest in Fortran, before its acts. The lines of the output are sorted before they are compared.
#if defined(F08)
#define HANDLE(kind, name) type(kind) :: name
#define STATUS(name) type(MPI_Status) :: name
#define OF(part) %part
#else
#define HANDLE(kind, name) integer :: name
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#endif
module guest
#if defined(F08)
	use mpi_f08
#elif defined(MODULE)
	use mpi
#endif
	implicit none
#if !defined(F08) && !defined(MODULE)
	include 'mpif.h'
#endif
	integer :: rank = 0, ranks = 1
contains
	subroutine say(text, number)
		character(*), intent(in) :: text
		integer, intent(in) :: number
		character(200) :: line

		write (line, '(i0, a, a, a, i0)') rank, ': ', text, ' ', number
		print '(a)', trim(line)
	end subroutine

	integer function work(amount)
		integer, intent(in) :: amount
		double precision, volatile :: total
		integer :: i

		total = 0
		do i = 1, amount * 4000
			total = total * 0.999d0 + mod(i, 7)
		end do
		work = int(total * 1000)
	end function

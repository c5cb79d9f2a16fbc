! SPDX-License-Identifier: BSD-3-Clause
! Waits for requests in other orders than they were opened, and logs each call as waits.c does. It is built twice: with mpi and
! with -DFLAVOUR_F08.
! Arguments: the log's prefix, and the number of steps.
program waits
#ifdef FLAVOUR_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: requests = 6, length = 4, tag = 7
#ifdef FLAVOUR_F08
  type(MPI_Request) :: request(requests), before(requests)
#else
  integer :: request(requests), before(requests)
#endif
  real(8) :: out(length), in(length, requests)
  integer :: rank, peer, steps, step, i, j, count, ierror, which(requests)
  character(len=4000) :: prefix
  character(len=16) :: word

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  peer = ieor(rank, 1)
  call get_command_argument(1, prefix)
  call get_command_argument(2, word)
  read (word, *) steps
  write (word, '(i0)') rank
  open (10, file=trim(prefix)//'.'//trim(word), action='write')
  write (10, '(a)') 'MPI_Init'
  out = rank
  do step = 1, steps
    ! the newest first
    call open_all
    do i = requests, 1, -1
      write (10, '(a,i0,a)') 'MPI_Wait request ', requests + 1 - i, ' back'
      call MPI_Wait(request(i), MPI_STATUS_IGNORE, ierror)
    end do
    ! a part of them, and none
    call open_all
    write (10, '(a)') 'MPI_Waitall 2 requests, from 5 back'
    call MPI_Waitall(2, request(2:3), MPI_STATUSES_IGNORE, ierror)
    write (10, '(a)') 'MPI_Waitall 4 requests, 6, 3, 2, 1 back'
    call MPI_Waitall(requests, request, MPI_STATUSES_IGNORE, ierror)
    write (10, '(a)') 'MPI_Wait no request'
    call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierror)
    ! any one
    call open_all
    do j = 0, requests
      before = request
      call MPI_Waitany(requests, request, i, MPI_STATUS_IGNORE, ierror)
      call log_ended('MPI_Waitany')
    end do
    ! some
    call open_all
    do
      before = request
      call MPI_Waitsome(requests, request, count, which, MPI_STATUSES_IGNORE, ierror)
      call log_ended('MPI_Waitsome')
      if (count == MPI_UNDEFINED) exit
    end do
  end do
  write (10, '(a)') 'MPI_Finalize'
  close (10)
  call MPI_Finalize(ierror)

contains

  subroutine open_all
    integer :: k
    do k = 1, requests, 2
      write (10, '(a,i0,a)') 'MPI_Irecv from ', peer, ', 32 bytes, tag 7'
      call MPI_Irecv(in(:, k), length, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, request(k), ierror)
      write (10, '(a,i0,a)') 'MPI_Isend to ', peer, ', 32 bytes, tag 7'
      call MPI_Isend(out, length, MPI_DOUBLE_PRECISION, peer, tag, MPI_COMM_WORLD, request(k + 1), ierror)
    end do
  end subroutine

  ! Logs what has ended: by the handles, because indices of MPICH's mpi_f08 begin with 0 or 1, by its version.
  subroutine log_ended(call)
    character(len=*), intent(in) :: call
    integer :: k, last, number, distance, oldest
    last = 0
    oldest = 0
    number = 0
    distance = 1
    do k = 1, requests
      if (before(k) == MPI_REQUEST_NULL .or. request(k) /= MPI_REQUEST_NULL) cycle
      number = number + 1
      if (number == 1) oldest = k
      if (number == 2) distance = k - last
      if (number > 2 .and. k - last /= distance) distance = 0
      last = k
    end do
    if (call == 'MPI_Waitany') then
      if (number == 0) write (10, '(a)') call//' no request'
      if (number == 1) write (10, '(a,i0,a)') call//' request ', requests + 1 - oldest, ' back'
      return
    end if
    write (10, '(a,i0,a)', advance='no') call//' ', number, ' requests'
    if (number > 0 .and. distance > 0) write (10, '(a,i0)', advance='no') ', from ', requests + 1 - oldest
    do k = 1, requests
      if (before(k) == MPI_REQUEST_NULL .or. request(k) /= MPI_REQUEST_NULL) cycle
      if (distance == 0) write (10, '(a,i0)', advance='no') ', ', requests + 1 - k
    end do
    if (number > 0) write (10, '(a)', advance='no') ' back'
    if (distance > 1) write (10, '(a,i0,a)', advance='no') ', ', distance, ' apart'
    write (10, '(a)') ''
  end subroutine
end program

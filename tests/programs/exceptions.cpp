// SPDX-License-Identifier: BSD-3-Clause
// Throws C++ exceptions through frames and threads while MPI runs. A preloaded library that exposes an unwinder of
// its own breaks them.
#include <cstdio>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "work.h"
}

static int depth_of(int depth)
{
	struct guard {
		int &count;
		~guard()
		{
			count++;
		}
	};
	static thread_local int unwound;

	if (depth == 0) {
		unwound = 0;
		throw std::runtime_error("from below");
	}
	guard here{ unwound };
	try {
		return depth_of(depth - 1);
	} catch (const std::logic_error &) {
		return -1;
	} catch (const std::runtime_error &error) {
		if (depth < 20)
			throw;
		return unwound;
	}
}

int main(int argc, char **argv)
{
	int rank, right = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 200; i++) {
		work("alu", 300000);
		right += depth_of(20) == 19;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	std::vector<std::thread> threads;
	std::exception_ptr carried[4];
	for (auto &one : carried)
		threads.emplace_back([&one] {
			try {
				throw std::string("from a thread");
			} catch (...) {
				one = std::current_exception();
			}
		});
	for (auto &thread : threads)
		thread.join();
	for (auto &one : carried) {
		try {
			std::rethrow_exception(one);
		} catch (const std::string &text) {
			right += text == "from a thread";
		}
	}
	if (rank == 0)
		std::printf("expected 204 exceptions caught in their place: %d\n", right);
	MPI_Finalize();
	return right == 204 ? 0 : 1;
}

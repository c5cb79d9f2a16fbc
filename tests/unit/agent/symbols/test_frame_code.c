/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what machine code says of the stack, with code that compilers write, on the processors whose code is known. */
#include <string.h>

#include "agent/symbols/frame_code.h"
#include "tests/tap.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

#if defined(__x86_64__)

static void test_calls(void)
{
	ok(frame_code_calls(CODE(0x90, 0xe8, 0x10, 0, 0, 0)), "call rel32");
	ok(frame_code_calls(CODE(0x90, 0xff, 0xd0)), "call *%%rax");
	ok(frame_code_calls(CODE(0x41, 0xff, 0xd4)), "call *%%r12");
	ok(frame_code_calls(CODE(0xff, 0x10)), "call *(%%rax)");
	ok(frame_code_calls(CODE(0xff, 0x50, 0x18)), "call *0x18(%%rax)");
	ok(frame_code_calls(CODE(0xff, 0x90, 0x88, 0, 0, 0)), "call *0x88(%%rax)");
	ok(frame_code_calls(CODE(0xff, 0x15, 1, 2, 3, 4)), "call *0x4030201(%%rip)");
	ok(frame_code_calls(CODE(0xff, 0x14, 0xc3)), "call *(%%rbx,%%rax,8)");
	ok(!frame_code_calls(CODE(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)), "nop is no call");
	ok(!frame_code_calls(CODE(0xe8, 0x10, 0, 0)), "nor is a part of a call");
	ok(!frame_code_calls(CODE(0x90, 0xff, 0xe0)), "nor is jmp *%%rax");
	ok(!frame_code_calls(CODE(0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0)),
			"nor is what stands before a function");
	ok(!frame_code_calls(NULL, 0), "nor is nothing");
}

static void test_frames(void)
{
	ok(frame_code_sets(CODE(0x55, 0x48, 0x89, 0xe5, 0x41, 0x54)), "push; mov %%rsp,%%rbp");
	ok(frame_code_sets(CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xb8, 0, 0, 0, 0, 0x48, 0x89, 0xe5)),
			"with other instructions before it");
	ok(frame_code_sets(CODE(0x55, 0x48, 0x8b, 0xec)), "in its other encoding");
	ok(!frame_code_sets(CODE(0x55, 0x48, 0x89)), "not before it has been executed");
	ok(!frame_code_sets(CODE(0x55, 0x53, 0x48, 0x83, 0xec, 0x18)),
			"not if %%rbp is only saved");
	ok(frame_code_returns(CODE(0xc3)) && frame_code_returns(CODE(0xf3, 0xc3)), "ret");
	ok(!frame_code_returns(CODE(0x5d, 0xc3)), "not what comes before it");
}

#elif defined(__aarch64__)

static void test_calls(void)
{
	ok(frame_code_calls(CODE(0x10, 0, 0, 0x94)), "bl");
	ok(frame_code_calls(CODE(0, 0, 0x3f, 0xd6)), "blr x0");
	ok(!frame_code_calls(CODE(0x1f, 0x20, 0x03, 0xd5)), "nop is no call");
	ok(!frame_code_calls(CODE(0x10, 0, 0, 0x14)), "nor is b");
	ok(!frame_code_calls(CODE(0, 0, 0x1f, 0xd6)), "nor is br x0");
}

static void test_frames(void)
{
	ok(frame_code_sets(CODE(0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03, 0, 0x91)),
			"stp x29, x30; mov x29, sp");
	ok(!frame_code_sets(CODE(0xfd, 0x7b, 0xbe, 0xa9)), "not before it has been executed");
	ok(frame_code_returns(CODE(0xc0, 0x03, 0x5f, 0xd6)), "ret");
}

#else

static void test_calls(void)
{
	skip("calls", "the code of this processor is not known");
}

static void test_frames(void)
{
	ok(!frame_code_sets(CODE(0, 0, 0, 0, 0, 0, 0, 0)), "nothing is claimed of unknown code");
}

#endif

int main(void)
{
	test_calls();
	test_frames();
	return tap_done();
}

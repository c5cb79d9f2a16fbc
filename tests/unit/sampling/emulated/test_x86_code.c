/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the emulator takes instructions of x86-64 for. */
#include "sampling/emulated/x86_code.h"
#include "tests/tap.h"

static const struct {
	const char *text, *code;
	size_t size;
	enum x86_kind kind;
	bool repeats;
} cases[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	{ "mov %rax,%rbx", CODE("\x48\x89\xc3"), X86_OTHER, false },
	{ "add %eax,(%rdi)", CODE("\x01\x07"), X86_OTHER, false },
	{ "je near", CODE("\x74\x05"), X86_CONDITIONAL, false },
	{ "jne far", CODE("\x0f\x85\x00\x01\x00\x00"), X86_CONDITIONAL, false },
	{ "loop", CODE("\xe2\xfe"), X86_CONDITIONAL, false },
	{ "jmp near", CODE("\xeb\x05"), X86_JUMP, false },
	{ "jmp far", CODE("\xe9\x00\x01\x00\x00"), X86_JUMP, false },
	{ "jmp *%rax", CODE("\xff\xe0"), X86_INDIRECT, false },
	{ "notrack jmp *%rax", CODE("\x3e\xff\xe0"), X86_INDIRECT, false },
	{ "call", CODE("\xe8\x00\x01\x00\x00"), X86_CALL, false },
	{ "call *%r12", CODE("\x41\xff\xd4"), X86_INDIRECT_CALL, false },
	{ "call *8(%rax)", CODE("\xff\x50\x08"), X86_INDIRECT_CALL, false },
	{ "inc %eax", CODE("\xff\xc0"), X86_OTHER, false },
	{ "push (%rax)", CODE("\xff\x30"), X86_OTHER, false },
	{ "ret", CODE("\xc3"), X86_RETURN, false },
	{ "rep ret", CODE("\xf3\xc3"), X86_RETURN, false },
	{ "div %rcx", CODE("\x48\xf7\xf1"), X86_DIVISION, false },
	{ "idiv %ecx", CODE("\xf7\xf9"), X86_DIVISION, false },
	{ "neg %eax", CODE("\xf7\xd8"), X86_OTHER, false },
	{ "divsd", CODE("\xf2\x0f\x5e\xc1"), X86_DIVISION, false },
	{ "sqrtpd", CODE("\x66\x0f\x51\xc1"), X86_DIVISION, false },
	{ "addsd", CODE("\xf2\x0f\x58\xc1"), X86_FLOATING, false },
	{ "mulpd %xmm8", CODE("\x66\x41\x0f\x59\xc0"), X86_FLOATING, false },
	{ "ucomisd", CODE("\x66\x0f\x2e\xc1"), X86_FLOATING, false },
	{ "movapd", CODE("\x66\x0f\x28\xc1"), X86_OTHER, false },
	{ "vaddpd, 2 bytes of VEX", CODE("\xc5\xfd\x58\xc1"), X86_FLOATING, false },
	{ "vdivsd %xmm8, 3 bytes of VEX", CODE("\xc4\xc1\x7b\x5e\xc0"), X86_DIVISION, false },
	{ "vfmadd231pd", CODE("\xc4\xe2\xf5\xb8\xc2"), X86_FLOATING, false },
	{ "andn", CODE("\xc4\xe2\x78\xf2\xc1"), X86_OTHER, false },
	{ "kmov, no branch", CODE("\xc5\xf8\x90\xc1"), X86_OTHER, false },
	{ "rep movsb", CODE("\xf3\xa4"), X86_OTHER, true },
	{ "rep stosq", CODE("\xf3\x48\xab"), X86_OTHER, true },
	{ "movsb", CODE("\xa4"), X86_OTHER, false },
	{ "nothing", CODE(""), X86_OTHER, false },
	{ "a prefix alone", CODE("\x66"), X86_OTHER, false },
	{ "half of an opcode", CODE("\x0f"), X86_OTHER, false },
	{ "half of VEX", CODE("\xc4\xe2"), X86_OTHER, false },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct x86_code code =
				x86_look((const unsigned char *)cases[i].code, cases[i].size);

		ok(code.kind == cases[i].kind && code.repeats == cases[i].repeats, "%s",
				cases[i].text);
	}
	return tap_done();
}

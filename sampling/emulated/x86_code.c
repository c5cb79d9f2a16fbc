/* SPDX-License-Identifier: BSD-3-Clause */
/* Opcodes are from Intel's Software Developer's Manual, volume 2, appendix A. */
#include "sampling/emulated/x86_code.h"

#include <stdint.h>
#include <string.h>

/* Maps of opcodes. */
enum {
	MAP_ONE_BYTE,
	MAP_0F,
	MAP_0F38,
	MAP_OTHER,
};

/* An instruction without its prefixes. */
struct opcode {
	unsigned map;
	unsigned char code, modrm; /* modrm: the byte after the opcode; 0 if there is none */
	bool rep, vex;
};

/* Returns the byte, or 0 beyond the end. */
static unsigned char byte_at(const unsigned char *code, size_t size, size_t at)
{
	return at < size ? code[at] : 0;
}

static struct opcode parse_vex(const unsigned char *code, size_t size, size_t at)
{
	bool three = code[at] == 0xc4;
	unsigned map = three ? byte_at(code, size, at + 1) & 0x1f : 1;

	at += three ? 3 : 2;
	return (struct opcode){ .map = map == 1 ? MAP_0F :
				map == 2        ? MAP_0F38 :
						  MAP_OTHER,
		.code = byte_at(code, size, at),
		.modrm = byte_at(code, size, at + 1),
		.vex = true };
}

static struct opcode parse(const unsigned char *code, size_t size)
{
	struct opcode opcode = { .map = MAP_ONE_BYTE };
	size_t at = 0;

	for (; at < size && code[at] &&
			strchr("\x66\xf2\xf3\xf0\x64\x65\x2e\x3e\x26\x36\x67", code[at]);
			at++)
		opcode.rep |= code[at] == 0xf2 || code[at] == 0xf3;
	if (at < size && (code[at] == 0xc4 || code[at] == 0xc5))
		return parse_vex(code, size, at);
	if (at < size && (code[at] & 0xf0) == 0x40)
		at++;
	if (byte_at(code, size, at) == 0x0f) {
		at++;
		opcode.map = MAP_0F;
		if (byte_at(code, size, at) == 0x38 || byte_at(code, size, at) == 0x3a) {
			opcode.map = code[at] == 0x38 ? MAP_0F38 : MAP_OTHER;
			at++;
		}
	}
	opcode.code = byte_at(code, size, at);
	opcode.modrm = byte_at(code, size, at + 1);
	return opcode;
}

static enum x86_kind kind_of_one_byte(const struct opcode *opcode)
{
	unsigned char code = opcode->code, extension = opcode->modrm >> 3 & 7;

	if ((code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0)
		return X86_CONDITIONAL;
	switch (code) {
	case 0xe9:
	case 0xeb:
		return X86_JUMP;
	case 0xe8:
		return X86_CALL;
	case 0xc2:
	case 0xc3:
		return X86_RETURN;
	case 0xf6:
	case 0xf7:
		return extension >= 6 ? X86_DIVISION : X86_OTHER;
	case 0xff:
		return extension == 2          ? X86_INDIRECT_CALL :
				extension == 4 ? X86_INDIRECT :
						 X86_OTHER;
	}
	return X86_OTHER;
}

static enum x86_kind kind_of_0f(unsigned char code)
{
	if ((code & 0xf0) == 0x80)
		return X86_CONDITIONAL;
	switch (code) {
	case 0x51: /* square root */
	case 0x5e: /* division */
		return X86_DIVISION;
	case 0x2e: /* comparisons */
	case 0x2f:
	case 0xc2:
	case 0x58: /* addition */
	case 0x59: /* multiplication */
	case 0x5c: /* subtraction */
	case 0x5d: /* minimum */
	case 0x5f: /* maximum */
		return X86_FLOATING;
	}
	return X86_OTHER;
}

/* Returns whether an opcode of the map 0F 38 is a fused multiplication and addition: 96-9f, a6-af, b6-bf. */
static bool is_fma(unsigned char code)
{
	return code >= 0x96 && code <= 0xbf && (code & 0xf) >= 6;
}

struct x86_code x86_look(const unsigned char *code, size_t size)
{
	struct opcode opcode = parse(code, size);
	struct x86_code found = { X86_OTHER, false };

	switch (opcode.map) {
	case MAP_ONE_BYTE:
		found.kind = kind_of_one_byte(&opcode);
		/* ins, outs, movs, cmps, stos, lods, scas */
		found.repeats = opcode.rep &&
				((opcode.code >= 0x6c && opcode.code <= 0x6f) ||
						(opcode.code >= 0xa4 && opcode.code <= 0xa7) ||
						(opcode.code >= 0xaa && opcode.code <= 0xaf));
		break;
	case MAP_0F:
		/* VEX has no branches here */
		if (!opcode.vex || (opcode.code & 0xf0) != 0x80)
			found.kind = kind_of_0f(opcode.code);
		break;
	case MAP_0F38:
		found.kind = opcode.vex && is_fma(opcode.code) ? X86_FLOATING : X86_OTHER;
		break;
	}
	return found;
}

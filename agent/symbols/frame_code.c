/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/symbols/frame_code.h"

#include <string.h>

#if defined(__x86_64__)

/* Returns the bytes of a call through a register or memory, from its ModR/M byte on; 0: it is no call. */
static size_t indirect_call(const uint8_t *code)
{
	unsigned mode = code[1] >> 6, kind = code[1] >> 3 & 7, base = code[1] & 7;
	static const size_t displacement[] = { 0, 1, 4, 0 };

	if (code[0] != 0xff || kind != 2)
		return 0;
	if (mode == 0 && base == 5)
		return 2 + 4; /* relative to the next instruction */
	return 2 + (mode != 3 && base == 4) + displacement[mode];
}

bool frame_code_calls(const uint8_t *code, size_t count)
{
	if (count >= 5 && code[count - 5] == 0xe8)
		return true;
	for (size_t length = 2; length <= FRAME_CODE_CALL && length <= count; length++)
		if (indirect_call(code + count - length) == length)
			return true;
	return false;
}

bool frame_code_sets(const uint8_t *code, size_t count)
{
	/* the two encodings of mov %rsp,%rbp */
	static const uint8_t sets[][3] = { { 0x48, 0x89, 0xe5 }, { 0x48, 0x8b, 0xec } };

	for (size_t i = 0; i + sizeof(sets[0]) <= count && i < FRAME_CODE_ENTRY; i++)
		if (memcmp(code + i, sets[0], sizeof(sets[0])) == 0 ||
				memcmp(code + i, sets[1], sizeof(sets[1])) == 0)
			return true;
	return false;
}

bool frame_code_returns(const uint8_t *code, size_t count)
{
	return (count >= 1 && code[0] == 0xc3) ||
			(count >= 2 && code[0] == 0xf3 && code[1] == 0xc3);
}

#elif defined(__aarch64__)

static uint32_t instruction(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

bool frame_code_calls(const uint8_t *code, size_t count)
{
	uint32_t last;

	if (count < sizeof(last))
		return false;
	last = instruction(code + count - sizeof(last));
	/* bl; blr and its authenticated forms */
	return last >> 26 == 0x25 || (last & 0xfefff800) == 0xd63f0000;
}

bool frame_code_sets(const uint8_t *code, size_t count)
{
	for (size_t i = 0; i + sizeof(uint32_t) <= count && i < FRAME_CODE_ENTRY;
			i += sizeof(uint32_t))
		/* add x29, sp, #n; mov is n = 0 */
		if ((instruction(code + i) & 0xff8003ff) == 0x910003fd)
			return true;
	return false;
}

bool frame_code_returns(const uint8_t *code, size_t count)
{
	return count >= sizeof(uint32_t) && instruction(code) == 0xd65f03c0;
}

#else

/* The code of this processor is not known, so nothing is claimed of it. */
bool frame_code_calls(const uint8_t *code, size_t count)
{
	(void)code;
	(void)count;
	return true;
}

bool frame_code_sets(const uint8_t *code, size_t count)
{
	(void)code;
	(void)count;
	return false;
}

bool frame_code_returns(const uint8_t *code, size_t count)
{
	(void)code;
	(void)count;
	return false;
}

#endif

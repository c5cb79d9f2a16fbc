/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What machine code says about the stack: whether a word found there can be a return address, and whether code keeps
 * a frame pointer, without which its caller is missing when a stack is walked by frame pointers.
 */
#ifndef PHASEMUX_AGENT_SYMBOLS_FRAME_CODE_H
#define PHASEMUX_AGENT_SYMBOLS_FRAME_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_CODE_CALL  7  /* bytes of the longest call that is looked for */
#define FRAME_CODE_ENTRY 64 /* bytes of a function in which it sets the frame pointer, if ever */

/* Returns whether the `count` bytes, behind which an address would return to, can end with a call. */
bool frame_code_calls(const uint8_t *code, size_t count);

/*
 * Returns whether a function has set the frame pointer in its first `count` bytes. These end at the place in question,
 * and are the first FRAME_CODE_ENTRY at most.
 */
bool frame_code_sets(const uint8_t *code, size_t count);

/* Returns whether the code at a place, of `count` bytes, returns, so that the frame pointer is the caller's again. */
bool frame_code_returns(const uint8_t *code, size_t count);

#endif

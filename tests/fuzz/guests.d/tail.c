/* SPDX-License-Identifier: BSD-3-Clause */

/* ---- functions that ends of programs call ---- */

static void *ends_later(void *code)
{
	pause_ms(5);
	say("a thread exits");
	exit((int)(intptr_t)code);
}

static void *never_ends(void *argument)
{
	for (;;)
		work(1);
	return argument;
}

static void exit_again(void)
{
	exit(9);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the names of events, as a user or a file gives them, on a known processor. */
#include "sampling/names/event_names.h"
#include "sampling/processor.h"
#include "tests/fuzz/fuzz.h"

static const char *const names[] = { "ex_ret_instr", "ls_dispatch:ld_dispatch", "r1000001a0",
	"PAPI_TOT_INS", "task-clock", "cycles", "amd64_fam1ah_zen5::EX_RET_BRN_MISP",
	"ls_any_fills_from_sys:local_l2:local_ccx:u=1:k=0", "cpu/event=0xc0,umask=0x1/" };

static const struct processor *zen5(void)
{
	static struct processor processor;

	if (!*processor.vendor)
		processor_identify(&processor, "AuthenticAMD-26-2");
	return &processor;
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	char *name = strndup((const char *)data, size), why[256] = "";
	struct event event;
	bool accepted;

	if (!name)
		return false;
	accepted = event_resolve(&event, name, zen5(), why, sizeof(why)) == 0;
	if (accepted ? !memchr(event.name, '\0', sizeof(event.name)) : !*why)
		abort();
	free(name);
	return accepted;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

/* Writes a name into data. Without libpfm4 or PAPI fewer of the names are known. */
static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	unsigned known = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!fuzz_one((const unsigned char *)names[i], strlen(names[i])) || known++ != seed)
			continue;
		memcpy(data, names[i], strlen(names[i]));
		return strlen(names[i]);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What processor this is, as far as event tables and CPI models are chosen by it. */
#ifndef PHASEMUX_SAMPLING_PROCESSOR_H
#define PHASEMUX_SAMPLING_PROCESSOR_H

#include <stdbool.h>
#include <stdio.h>

struct processor {
	char vendor[16];        /* "AuthenticAMD", "GenuineIntel", "ARM", "IBM"; "" unknown */
	unsigned family, model; /* x86: CPUID; ARM: implementer, part; POWER: PVR version, 0 */
	char brand[64];         /* for people: "AMD EPYC 9654" */
	bool hypervisor;        /* runs in a virtual machine */
};

/*
 * Fills it from the machine, or from `assume` ("VENDOR-FAMILY-MODEL", decimal) when that is not
 * NULL. Never fails: what is not known stays empty.
 */
void processor_identify(struct processor *processor, const char *assume);

/*
 * Fills it from the text of /proc/cpuinfo, for processors that cannot be asked by an instruction
 * (ARM, POWER). Fields that the text does not have stay as they are.
 */
void processor_from_cpuinfo(struct processor *processor, FILE *cpuinfo);

#endif

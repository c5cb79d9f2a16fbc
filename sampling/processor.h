/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the processor, as far as event tables and CPI models depend on it. */
#ifndef PHASEMUX_SAMPLING_PROCESSOR_H
#define PHASEMUX_SAMPLING_PROCESSOR_H

#include <stdbool.h>
#include <stdio.h>

/* Start of the brand of an emulated processor, after which the name of its core model and ")" follow. */
#define PROCESSOR_EMULATED "emulated (core model "

struct processor {
	char vendor[16];        /* "AuthenticAMD", "GenuineIntel", "ARM", "IBM"; "" unknown */
	unsigned family, model; /* x86: CPUID; ARM: implementer, part; POWER: PVR version, 0 */
	char brand[64];         /* for people: "AMD EPYC 9654" */
	bool hypervisor;        /* runs in a virtual machine */
};

/*
 * Fills the processor from the machine, or from `assume` ("VENDOR-FAMILY-MODEL", decimal) if that is not
 * NULL. Never fails; fields that are not known stay empty.
 */
void processor_identify(struct processor *processor, const char *assume);

/*
 * Fills the processor from the text of /proc/cpuinfo, because some processors have no instruction that
 * identifies them (ARM, POWER). Fields that the text does not have stay as they are.
 */
void processor_from_cpuinfo(struct processor *processor, FILE *cpuinfo);

/* Returns whether the processor has the vendor, family and model of this machine's. */
bool processor_is_here(const struct processor *processor);

/*
 * Returns whether the processor is emulated. `core`, if not NULL, becomes the name of its core model, or "".
 */
bool processor_is_emulated(const struct processor *processor, char *core, size_t size);

#endif

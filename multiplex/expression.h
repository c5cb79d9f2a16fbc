/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The small formulas of the models: + - * / ( ), min(a, b), max(a, b), numbers and names
 * (in ' ' when they hold a minus). Compiled once, evaluated often, with nothing allocated.
 */
#ifndef PHASEMUX_MULTIPLEX_EXPRESSION_H
#define PHASEMUX_MULTIPLEX_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_STEPS_MAX 48

struct expression {
	unsigned count; /* steps, in postfix order */
	struct {
		char op; /* 'n' number, 'v' variable, '+', '-', '*', '/', '<' min, '>' max */
		uint16_t variable;
		double number;
	} step[EXPRESSION_STEPS_MAX];
};

/* The number of the variable with that name (not terminated), or -1. */
typedef int expression_lookup(void *data, const char *name, size_t length);

/* 0; -EINVAL with why saying what is wrong and where; -E2BIG when it has too many steps. */
int expression_compile(struct expression *expression, const char *text, expression_lookup *lookup,
		void *data, char *why, size_t why_size);

/* Its value; NAN when a variable that it uses is. x / 0 is NAN, but 0 / 0 is 0: nothing of nothing. */
double expression_value(const struct expression *expression, const double *variables);

#endif

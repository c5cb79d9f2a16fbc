/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The small formulas of the models: + - * / ( ), min(a, b), max(a, b), numbers and names
 * (in ' ' if they contain a minus). They are compiled once and evaluated often. Nothing is allocated.
 */
#ifndef PHASEMUX_MULTIPLEX_MODELS_EXPRESSION_H
#define PHASEMUX_MULTIPLEX_MODELS_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_STEPS_MAX 48

struct expression {
	unsigned count; /* number of steps, which are in postfix order */
	struct {
		char op; /* 'n' number, 'v' variable, '+', '-', '*', '/', '<' min, '>' max */
		uint16_t variable;
		double number;
	} step[EXPRESSION_STEPS_MAX];
};

/* Returns the number of the variable with this name (not terminated), or -1. */
typedef int expression_lookup(void *data, const char *name, size_t length);

/*
 * Compiles `text`. Returns 0 or -errno: -EINVAL, and `why` says what is wrong and at which place; -E2BIG: too
 * many steps.
 */
int expression_compile(struct expression *expression, const char *text, expression_lookup *lookup,
		void *data, char *why, size_t why_size);

/* Returns the value; NAN if a variable that it uses is NAN. x / 0 is NAN, except 0 / 0, which is 0. */
double expression_value(const struct expression *expression, const double *variables);

#endif

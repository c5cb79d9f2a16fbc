/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/models/expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 16

struct parser {
	struct expression *out;
	const char *text, *cursor;
	expression_lookup *lookup;
	void *data;
	char *why;
	size_t why_size;
	unsigned nesting;
	int error;
};

static void parse_sum(struct parser *p);

__attribute__((format(printf, 3, 4))) static void fail(struct parser *p, int error,
		const char *format, ...)
{
	va_list arguments;

	if (p->error)
		return;
	p->error = error;
	va_start(arguments, format);
	vsnprintf(p->why, p->why_size, format, arguments);
	va_end(arguments);
}

static void emit(struct parser *p, char op, unsigned variable, double number)
{
	unsigned i = p->out->count;

	if (i == EXPRESSION_STEPS_MAX) {
		fail(p, -E2BIG, "more than %d steps in \"%s\"", EXPRESSION_STEPS_MAX, p->text);
		return;
	}
	p->out->step[i].op = op;
	p->out->step[i].variable = variable;
	p->out->step[i].number = number;
	p->out->count++;
}

static char peek(struct parser *p)
{
	while (isspace((unsigned char)*p->cursor))
		p->cursor++;
	return *p->cursor;
}

static void expect(struct parser *p, char c)
{
	if (peek(p) == c)
		p->cursor++;
	else
		fail(p, -EINVAL, "'%c' wanted at \"%.20s\" of \"%s\"", c, p->cursor, p->text);
}

static void parse_name(struct parser *p)
{
	const char *name = p->cursor;
	size_t length;
	int variable;

	if (*name == '\'') {
		p->cursor = strchr(++name, '\'');
		if (!p->cursor) {
			p->cursor = name;
			fail(p, -EINVAL, "no closing ' in \"%s\"", p->text);
			return;
		}
		length = p->cursor++ - name;
	} else {
		while (isalnum((unsigned char)*p->cursor) || *p->cursor == '_' || *p->cursor == '.')
			p->cursor++;
		length = p->cursor - name;
	}
	if (length == 3 && (memcmp(name, "min", 3) == 0 || memcmp(name, "max", 3) == 0)) {
		expect(p, '(');
		parse_sum(p);
		expect(p, ',');
		parse_sum(p);
		expect(p, ')');
		emit(p, name[1] == 'i' ? '<' : '>', 0, 0);
		return;
	}
	variable = p->lookup(p->data, name, length);
	if (variable < 0)
		fail(p, -EINVAL, "\"%.*s\" is no event here", (int)length, name);
	else
		emit(p, 'v', variable, 0);
}

static void parse_term(struct parser *p)
{
	char c = peek(p), *end;

	if (p->error)
		return;
	if (c == '(') {
		p->cursor++;
		parse_sum(p);
		expect(p, ')');
	} else if (isdigit((unsigned char)c)) {
		emit(p, 'n', 0, strtod(p->cursor, &end));
		p->cursor = end;
	} else if (isalpha((unsigned char)c) || c == '\'') {
		parse_name(p);
	} else {
		fail(p, -EINVAL, "not a formula at \"%.20s\" of \"%s\"", p->cursor, p->text);
	}
}

static void parse_product(struct parser *p)
{
	char op;

	parse_term(p);
	while (!p->error && ((op = peek(p)) == '*' || op == '/')) {
		p->cursor++;
		parse_term(p);
		emit(p, op, 0, 0);
	}
}

static void parse_sum(struct parser *p)
{
	char op;

	if (++p->nesting > NESTING_MAX)
		fail(p, -E2BIG, "more than %d brackets in \"%s\"", NESTING_MAX, p->text);
	parse_product(p);
	while (!p->error && ((op = peek(p)) == '+' || op == '-')) {
		p->cursor++;
		parse_product(p);
		emit(p, op, 0, 0);
	}
	p->nesting--;
}

int expression_compile(struct expression *expression, const char *text, expression_lookup *lookup,
		void *data, char *why, size_t why_size)
{
	struct parser p = { .out = expression,
		.text = text,
		.cursor = text,
		.lookup = lookup,
		.data = data,
		.why = why,
		.why_size = why_size };

	expression->count = 0;
	parse_sum(&p);
	if (!p.error && peek(&p))
		fail(&p, -EINVAL, "too much at \"%.20s\" of \"%s\"", p.cursor, text);
	return p.error;
}

static double operate(char op, double a, double b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		if (b == 0)
			return a == 0 ? 0 : NAN;
		return a / b;
	case '<':
		return isnan(a) || isnan(b) ? NAN : fmin(a, b);
	default:
		return isnan(a) || isnan(b) ? NAN : fmax(a, b);
	}
}

double expression_value(const struct expression *expression, const double *variables)
{
	double stack[EXPRESSION_STEPS_MAX];
	unsigned depth = 0;

	for (unsigned i = 0; i < expression->count; i++) {
		char op = expression->step[i].op;

		if (op == 'n') {
			stack[depth++] = expression->step[i].number;
		} else if (op == 'v') {
			stack[depth++] = variables[expression->step[i].variable];
		} else {
			depth--;
			stack[depth - 1] = operate(op, stack[depth - 1], stack[depth]);
		}
	}
	return depth == 1 ? stack[0] : NAN;
}

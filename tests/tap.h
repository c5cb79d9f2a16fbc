/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Test Anything Protocol for unit tests in C. A test calls ok() and the other functions, and ends main with
 * `return tap_done();`. Cases that could hang or die run in a forked child, by tap_survives. What failed is also said on
 * stderr, which prove shows.
 */
#ifndef PHASEMUX_TESTS_TAP_H
#define PHASEMUX_TESTS_TAP_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tap_run, tap_failed;
static bool tap_passed = true; /* the last case */

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool passed, const char *format, ...)
{
	va_list arguments;
	char name[512];

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	printf("%sok %u - %s\n", passed ? "" : "not ", ++tap_run, name);
	fflush(stdout);
	if (!passed)
		fprintf(stderr, "# %s: not ok %u - %s\n", program_invocation_short_name, tap_run,
				name);
	tap_failed += !passed;
	tap_passed = passed;
	return passed;
}

/* After a case that failed, prints on stderr. */
__attribute__((format(printf, 1, 2), unused)) static void diag(const char *format, ...)
{
	FILE *out = tap_passed ? stdout : stderr;
	va_list arguments;

	fputs("# ", out);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	fputc('\n', out);
}

__attribute__((unused)) static bool is_int(long long got, long long want, const char *name)
{
	bool passed = ok(got == want, "%s", name);

	if (!passed)
		diag("got %lld, want %lld", got, want);
	return passed;
}

__attribute__((unused)) static bool is_str(const char *got, const char *want, const char *name)
{
	bool passed = ok(got && strcmp(got, want) == 0, "%s", name);

	if (!passed)
		diag("got \"%s\", want \"%s\"", got ? got : "(null)", want);
	return passed;
}

/*
 * Passes if
 * got - want
 * <= tolerance. A NAN is never near.
 */
__attribute__((unused)) static bool is_near(double got, double want, double tolerance,
		const char *name)
{
	bool passed = ok(fabs(got - want) <= tolerance, "%s", name);

	if (!passed)
		diag("got %.17g, want %.17g within %g", got, want, tolerance);
	return passed;
}

__attribute__((unused)) static void skip(const char *name, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_run, name, why);
}

/* Runs body in a forked child for at most `seconds`. Returns whether it returned 0. */
__attribute__((unused)) static bool tap_survives(int (*body)(void *), void *data, unsigned seconds)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(seconds);
		_exit(body(data) != 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
			WEXITSTATUS(status) == 0;
}

/*
 * Returns how many of `count` random cases, or of the calls whose cost it prints, a test makes: a quarter with a sanitizer,
 * where each takes several times as long. The release build makes all of them.
 */
__attribute__((unused)) static unsigned tap_cases(unsigned count)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return count / 4;
#else
	return count;
#endif
}

__attribute__((unused)) static int tap_done(void)
{
	printf("1..%u\n", tap_run);
	return tap_failed != 0;
}

#endif

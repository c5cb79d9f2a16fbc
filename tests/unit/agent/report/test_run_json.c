/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the report says of the run: its date is that of the C library. */
#include <math.h>
#include <time.h>

#include "agent/report/run_json.h"
#include "tests/tap.h"

static void check_date(double seconds, const char *wanted)
{
	json_t *date = run_date(seconds);

	is_str(json_is_string(date) ? json_string_value(date) : "null", wanted, "a date");
	json_decref(date);
}

/* Returns whether each day from 1970 to 9999 has the date that the C library says, at several times of the day. */
static bool are_right(void)
{
	for (int64_t day = 0; day < 2932896; day++) {
		time_t moment = (time_t)(day * 86400 + day * 7919 % 86400);
		char wanted[32];
		struct tm tm;
		json_t *date = run_date((double)moment + 0.75);
		bool same;

		strftime(wanted, sizeof(wanted), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&moment, &tm));
		same = json_is_string(date) == (moment > 0) &&
				(!moment || strcmp(json_string_value(date), wanted) == 0);
		json_decref(date);
		if (!same)
			return false;
	}
	return true;
}

int main(void)
{
	check_date(1, "1970-01-01T00:00:01Z");
	check_date(951827696.999, "2000-02-29T12:34:56Z");
	check_date(4107542399, "2100-02-28T23:59:59Z");
	check_date(4107542400, "2100-03-01T00:00:00Z");
	check_date(253402300799, "9999-12-31T23:59:59Z");
	check_date(0, "null");
	check_date(253402300800, "null");
	check_date(-1, "null");
	check_date(NAN, "null");
	check_date(1e300, "null");
	ok(are_right(), "every day has its date");
	return tap_done();
}

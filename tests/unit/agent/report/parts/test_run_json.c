/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the report says of the run: its date is that of the C library, and its ranks have times. */
#include <math.h>
#include <time.h>

#include "agent/report/parts/run_json.h"
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

/* With more ranks than have a place, there are deciles. */
static void test_rank_times(void)
{
	static struct rank_times times;
	json_t *few, *many, *deciles;
	double useful = 0, mpi = 0;

	times.place[RANK_TIMES_MAX / 2].useful = 1000;
	times.place[RANK_TIMES_MAX / 4].mpi = 1000;
	few = run_rank_times(&times, RANK_TIMES_MAX, 8);
	many = run_rank_times(&times, 1000, 8);
	ok(json_array_size(json_object_get(few, "each")) == RANK_TIMES_MAX &&
					json_is_null(json_object_get(few, "deciles")),
			"512 ranks have the times of each");
	deciles = json_object_get(many, "deciles");
	ok(json_array_size(deciles) == 11 && json_is_null(json_object_get(many, "each")),
			"1000 ranks have deciles");
	json_unpack(json_array_get(deciles, 10), "{s:F,s:F}", "useful_seconds", &useful,
			"mpi_seconds", &mpi);
	is_near(useful, 4, 0.01, "of useful time");
	is_near(mpi, 2, 0.01, "and of time in MPI");
	json_decref(few);
	json_decref(many);
}

int main(void)
{
	test_rank_times();
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

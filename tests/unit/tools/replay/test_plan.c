/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a replay, the calls of its ranks, and the check that they fit together. */
#include "tools/replay/plan/cursor.h"
#include "tools/replay/matching.h"
#include "tests/tap.h"

#include <stdlib.h>

#define HEAD                                                                                       \
	"phasemux_replay_plan 2 ranks 2 seconds 1.5 call_most 0.5 bytes_most 0 phases 1 0.5 0.9 2 0.5 1.5 "

/* The arguments of a path, in the order of a plan: those that the calls do not have are 0. */
#define BOTH          "1 0 1 2 "
#define VALUES(words) "1 " BOTH "10 ? 1 10 " words " "
#define NO            "0 "
#define SEND(tag)                                                                                  \
	"0 1 1 0 1 1 10 ? 1 10 1 " NO NO VALUES("8") VALUES(tag) NO NO VALUES("0") NO NO NO NO NO
#define RECEIVE(tag)                                                                               \
	NO "1 1 1 1 1 10 ? 1 10 -1 " NO VALUES("8") VALUES(tag) NO NO VALUES("0") NO NO NO NO NO
#define RECV(tag)  "0 " RECEIVE(tag)
#define IRECV(tag) "1 " RECEIVE(tag)
#define SUM_IN(bytes, communicator)                                                                \
	"0 " NO NO NO VALUES(bytes)                                                                \
	NO NO NO VALUES(communicator)                                                              \
	NO NO NO NO NO
#define NOTHING NO NO NO NO NO NO NO NO NO
#define ONE_BACK(back)                                                                             \
	"0 " NOTHING NO VALUES(back)                                                               \
	NO NO
#define BACK(requests, back, step) "0 " NOTHING VALUES(requests) VALUES(back) VALUES(step) NO
#define WHICH(requests, back, which)                                                               \
	"0 " NOTHING VALUES(requests) VALUES(back) VALUES("?") VALUES(which)
#define SUM(bytes)       SUM_IN(bytes, "0")
#define CALL(name, path) "call " name " " path " 0 0.001 0.0005 0.0015 0.002 "

static struct plan *plan_of(const char *text)
{
	char *copy = strdup(text);
	struct plan *plan = copy ? plan_parse(copy, strlen(copy)) : NULL;

	free(copy);
	return plan;
}

/* Returns the verdict on a plan, and leaves its words in `why`. */
static int verdict(const char *text, struct matching *matching, char *why, size_t size)
{
	struct plan *plan = plan_of(text);
	unsigned copies = CALLS_ALL_COPIES;
	int code = plan ? matching_check(matching, plan, NULL, &copies, why, size) : -1;

	plan_free(plan);
	return code;
}

/* A structure for each of two ranks. */
#define RANK(number, tokens, counts) tokens " 1 1 " number " 1 1 -1 " counts " "

#define GOOD                                                                                       \
	HEAD "paths 3 " SEND("5") RECV("5") SUM("24") "structures 2 " RANK("0",                    \
			"2 loop 2 " CALL("MPI_Send", "0") CALL("MPI_Allreduce", "2")               \
					CALL("MPI_Finalize", "-1"),                                \
			"1 3 1 2 2 1 1 1 1 1 1 1 1 1 ") RANK("1",                                  \
			"2 loop 2 " CALL("MPI_Recv", "1") CALL("MPI_Allreduce", "2")               \
					CALL("MPI_Finalize", "-1"),                                \
			"1 3 1 2 2 1 1 1 1 1 1 1 1 1 ") "end"

static void test_calls(void)
{
	/* MPI_Send is made twice, once, twice */
	static const char *const want[] = { "MPI_Send", "MPI_Send", "MPI_Allreduce", "MPI_Send",
		"MPI_Allreduce", "MPI_Send", "MPI_Send", "MPI_Allreduce" };
	struct plan *plan = plan_of(GOOD);
	char why[200];
	struct cursor *cursor =
			plan ? cursor_new(plan, 0, CALLS_ALL_COPIES, NULL, why, sizeof(why)) : NULL;
	struct cursor_call call;
	bool same = true, arguments = true;

	if (!ok(cursor, "a plan is read"))
		return;
	for (unsigned i = 0; i < sizeof(want) / sizeof(*want) && same; i++) {
		same = cursor_next(cursor, &call) == CURSOR_CALL;
		same &= strcmp(call.token->name, want[i]) == 0;
		if (call.token->call == CALL_SEND)
			arguments &= call.value[ARGUMENT_TO] == 1 &&
					call.value[ARGUMENT_TAG] == 5 &&
					call.value[ARGUMENT_BYTES] == 8;
	}
	ok(same, "calls come in the order of the loops, with counts that vary");
	ok(arguments, "with their arguments, and with ranks for distances");
	is_str(cursor_next(cursor, &call) == CURSOR_CALL ? call.token->name : "", "MPI_Finalize",
			"then comes what is behind the loop");
	is_int(cursor_next(cursor, &call), CURSOR_END, "and the end");
	is_int(cursor_next(cursor, &call), CURSOR_END, "behind which comes the end again");
	cursor_free(cursor);
	ok(!cursor_new(plan, 2, CALLS_ALL_COPIES, NULL, why, sizeof(why)) &&
					strstr(why, "rank 2 are not known"),
			"a rank without calls is refused");
	plan_free(plan);
}

static void test_broken(void)
{
	char text[] = GOOD;

	ok(!plan_of(""), "an empty file is no plan");
	for (size_t length = 1; length < sizeof(text) - 2; length++) {
		char cut[sizeof(text)];
		struct plan *plan;

		snprintf(cut, sizeof(cut), "%.*s", (int)length, text);
		plan = plan_of(cut);
		if (plan) {
			ok(false, "a plan that is cut off after %zu characters is refused", length);
			plan_free(plan);
			return;
		}
	}
	ok(true, "a plan that is cut off is refused, wherever it is");
}

/* Two ranks that make the calls of these texts once each. */
#define PAIR(paths, of_0, counts_0, of_1, counts_1)                                                \
	HEAD paths "structures 2 " RANK("0", of_0, counts_0) RANK("1", of_1, counts_1) "end"
#define ONCE "1 1 1 "

static void test_messages(void)
{
	struct matching matching;
	char why[MATCHING_WHY_MAX];

	is_int(verdict(GOOD, &matching, why, sizeof(why)), 0, "calls that fit together");
	is_int((long long)matching.calls, 18, "all calls are counted");
	is_int((long long)matching.carried, 18, "and all can be made");

	is_int(verdict(PAIR("paths 2 " SEND("5") RECV("6"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "1 " CALL("MPI_Recv", "1"), ONCE),
			       &matching, why, sizeof(why)),
			2, "another tag");
	is_str(why, "MPI_Recv from 0 bytes 8 tag 6 (call 1 of rank 1) waits for a message that no rank sends",
			"the message names the call");
	is_int(verdict(PAIR("paths 2 " SEND("5") RECV("any"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "1 " CALL("MPI_Recv", "1"), ONCE),
			       &matching, why, sizeof(why)),
			0, "any tag takes it");
	is_int(verdict(PAIR("paths 2 " SEND("5") RECV("5"), "1 " CALL("MPI_Send", "0"), "1 2 1 ",
				       "1 " CALL("MPI_Recv", "1"), ONCE),
			       &matching, why, sizeof(why)),
			2, "a message too many");
	is_str(why, "rank 0 sends a message of 8 bytes with tag 5 to rank 1, which does not receive it",
			"the message names it");
}

static void test_requests(void)
{
	struct matching matching;
	char why[MATCHING_WHY_MAX];

	is_int(verdict(PAIR("paths 2 " SEND("5") IRECV("5"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "2 " CALL("MPI_Irecv", "1") CALL("MPI_Wait", "-1"),
				       ONCE ONCE),
			       &matching, why, sizeof(why)),
			0, "a receive that is waited for");
	is_int(verdict(PAIR("paths 2 " SEND("5") IRECV("5"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "2 " CALL("MPI_Irecv", "1") CALL("MPI_Waitall", "-1"),
				       "1 2 1 " ONCE),
			       &matching, why, sizeof(why)),
			2, "a receive too many, for which a call waits");
	is_int(verdict(PAIR("paths 2 " SEND("5") IRECV("5"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "2 " CALL("MPI_Irecv", "1") CALL("MPI_Waitany", "-1"),
				       "1 2 1 " ONCE),
			       &matching, why, sizeof(why)),
			0, "MPI_Waitany needs one only");
	is_int(verdict(PAIR("paths 2 " SEND("5") RECV("any"), "1 " CALL("MPI_Send", "0"), ONCE,
				       "2 " CALL("MPI_Mprobe", "1") CALL("MPI_Mrecv", "-1"),
				       ONCE "1 2 1 "),
			       &matching, why, sizeof(why)),
			0, "MPI_Mprobe takes a message");
	is_int((long long)matching.no_request, 1, "which MPI_Mrecv receives once");
}

/* Rank 1 opens two receives, of which only the first one with tag 5 or the second one with tag 6 ends. */
#define NAMED(tag, wait, words)                                                                    \
	PAIR("paths 4 " SEND(tag) IRECV("5") IRECV("6") wait, "1 " CALL("MPI_Send", "0"), ONCE,    \
			"3 " CALL("MPI_Irecv", "1") CALL("MPI_Irecv", "2") CALL(words, "3"),       \
			ONCE ONCE ONCE)

static void test_named_requests(void)
{
	static const struct {
		const char *text;
		int code;
		const char *name;
	} cases[] = {
		{ NAMED("6", ONE_BACK("1"), "MPI_Wait"), 0, "MPI_Wait for the newer request" },
		{ NAMED("5", ONE_BACK("1"), "MPI_Wait"), 2, "which has no message" },
		{ NAMED("5", ONE_BACK("2"), "MPI_Wait"), 0, "for the older one" },
		{ NAMED("6", ONE_BACK("?"), "MPI_Wait"), 2, "if it is not known, for the oldest" },
		{ NAMED("6", ONE_BACK("3"), "MPI_Wait"), 2, "or if there was no such request" },
		{ NAMED("6", ONE_BACK("none"), "MPI_Wait"), 0, "for none" },
		{ NAMED("6", ONE_BACK("1"), "MPI_Waitany"), 0, "MPI_Waitany for the newer one" },
		{ NAMED("5", ONE_BACK("1"), "MPI_Waitany"), 2, "it does not take another one" },
		{ NAMED("6", BACK("1", "1", "1"), "MPI_Waitall"), 0,
				"MPI_Waitall for one of them" },
		{ NAMED("6", BACK("2", "2", "1"), "MPI_Waitall"), 2, "for both" },
		{ NAMED("6", BACK("1", "2", "1"), "MPI_Waitall"), 2, "for the older one" },
		{ NAMED("6", BACK("0", "none", "1"), "MPI_Waitall"), 0, "for none of them" },
		{ NAMED("6", BACK("2", "2", "?"), "MPI_Waitall"), 2, "for all if it is not known" },
		{ NAMED("6", BACK("2", "2", "2"), "MPI_Waitall"), 2, "or if they cannot be" },
		{ NAMED("6", BACK("1", "1", "1"), "MPI_Waitsome"), 0, "MPI_Waitsome" },
		{ NAMED("6", WHICH("1", "1", "1"), "MPI_Waitall"), 0, "one of them by its bit" },
		{ NAMED("6", WHICH("2", "2", "3"), "MPI_Waitall"), 2, "both by their bits" },
		{ NAMED("6", WHICH("2", "1", "1"), "MPI_Waitall"), 2, "another number of bits" },
		{ NAMED("6", WHICH("1", "1", "2"), "MPI_Waitall"), 2, "a bit of a later request" },
	};
	struct matching matching;
	char why[MATCHING_WHY_MAX];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		is_int(verdict(cases[i].text, &matching, why, sizeof(why)), cases[i].code,
				cases[i].name);
		is_int((long long)matching.no_request, 0, "no call is without a request");
	}
	/* calls of which nothing is known may have opened requests */
	is_int(verdict(PAIR("paths 3 " SEND("6") IRECV("6") ONE_BACK("1"),
				       "1 " CALL("MPI_Send", "0"), ONCE,
				       "3 " CALL("MPI_Irecv", "1") CALL("MPI_Isend", "-2")
						       CALL("MPI_Wait", "2"),
				       ONCE ONCE ONCE),
			       &matching, why, sizeof(why)),
			0, "behind calls without arguments, requests are not known");
	is_int((long long)matching.no_request, 0, "and the oldest one is taken");
	/* a request of a call that is not made again */
	is_int(verdict(PAIR("paths 3 1 " NOTHING NO NO NO NO IRECV("6") ONE_BACK("1"), "0 ", "",
				       "2 " CALL("MPI_File_iread", "0") CALL("MPI_Wait", "2"),
				       ONCE ONCE),
			       &matching, why, sizeof(why)),
			0, "a request that is not opened");
}

/* Rank 0 makes request 3 that sends, and rank 1 request 4 that receives. Each starts what `starts_` says, and waits. */
#define SEND_INIT                                                                                  \
	"0 1 1 0 1 1 10 ? 1 10 1 " NO NO VALUES("8") VALUES("5") NO NO VALUES("0") VALUES("3")     \
			NO NO NO NO
#define RECV_INIT                                                                                  \
	"0 " NO "1 1 1 1 1 10 ? 1 10 -1 " NO VALUES("8") VALUES("5") NO NO VALUES("0") VALUES("4") \
			NO NO NO NO
#define START(number)                                                                              \
	"1 " NO NO NO NO NO NO NO NO VALUES(number)                                                \
	NO NO NO NO
#define NOTHING_BEFORE_REQUEST NO NO NO NO NO NO NO NO
#define MANY(words)            "1 " BOTH "5000 ? 1 5000 " words " "
#define STARTALL(number, count, step)                                                              \
	"1 " NO NO NO NO NO NO NO NO VALUES(number) VALUES(count) NO VALUES(step) NO
#define STARTED(paths, starts_0, starts_1)                                                         \
	PAIR("paths 4 " SEND_INIT RECV_INIT paths,                                                 \
			"3 " CALL("MPI_Send_init", "0") starts_0 CALL("MPI_Waitall", "-1"),        \
			"1 1 1 1 2 1 1 2 1 ",                                                      \
			"3 " CALL("MPI_Recv_init", "1") starts_1 CALL("MPI_Waitall", "-1"),        \
			"1 1 1 1 2 1 1 2 1 ")

static void test_persistent(void)
{
	static const struct {
		const char *text;
		int code;
		const char *why, *name;
	} cases[] = {
		{ STARTED(START("3") START("4"), CALL("MPI_Start", "2"), CALL("MPI_Start", "3")), 0,
				"", "each is started twice" },
		{ STARTED(START("3") START("7"), CALL("MPI_Start", "2"), CALL("MPI_Start", "3")), 2,
				"MPI_Start request 7 (call 2 of rank 1) starts a persistent request that was not made",
				"one that was not made" },
		{ STARTED(STARTALL("3", "2", "1") START("4"), CALL("MPI_Startall", "2"),
				  CALL("MPI_Start", "3")),
				2,
				"MPI_Startall request 3 (call 2 of rank 0) starts persistent requests of which one was not made",
				"one of two that was not made" },
		{ STARTED(STARTALL("3", "1", "?") START("4"), CALL("MPI_Startall", "2"),
				  CALL("MPI_Start", "3")),
				0, "", "MPI_Startall for one" },
		{ STARTED(START("3") START("4"), CALL("MPI_Start", "2"), CALL("MPI_Test", "-1")), 2,
				"rank 0 sends a message of 8 bytes with tag 5 to rank 1, which does not receive it",
				"one rank never starts" },
		{ STARTED(START("3") START("4"), CALL("MPI_Test", "-1"), CALL("MPI_Start", "3")), 2,
				"MPI_Start request 4 (call 3 of rank 1) waits for a message that no rank sends",
				"the other one never starts" },
		{ STARTED(STARTALL("3", "2", "?") STARTALL("4", "2", "?"),
				  CALL("MPI_Startall", "2"), CALL("MPI_Startall", "3")),
				0, "", "numbers that are not known are not started" },
		{ STARTED(START("3") START("4"), CALL("MPI_Send_init", "0"),
				  CALL("MPI_Test", "-1")),
				2,
				"MPI_Send_init to 1 bytes 8 tag 5 request 3 (call 2 of rank 0) makes a persistent request that was made before",
				"one that is made twice" },
	};
	struct matching matching;
	char unknown[MATCHING_WHY_MAX];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char why[MATCHING_WHY_MAX] = "";

		is_int(verdict(cases[i].text, &matching, why, sizeof(why)), cases[i].code,
				cases[i].name);
		is_str(cases[i].code ? why : "", cases[i].why, "and what is said of it");
	}
	/* the arguments of a call are not known, which may have made it */
	is_int(verdict(PAIR("paths 1 " START("7"), "0 ", "",
				       "2 " CALL("MPI_Psend_init", "-2") CALL("MPI_Start", "0"),
				       ONCE ONCE),
			       &matching, unknown, sizeof(unknown)),
			0, "behind calls without arguments, any request may have been made");
	is_int((long long)matching.no_request, 1, "its start is not made again");
}

/* A rank that makes more persistent requests than are kept, and starts the last one that is, and the next one. */
static void test_many_persistent(void)
{
	struct matching matching;
	char why[MATCHING_WHY_MAX], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!ok(out, "memory for a plan"))
		return;
	fprintf(out,
			HEAD "paths 3 0 " NO MANY("none") NO MANY("8") MANY("5")
					NO NO MANY("0") "1 " BOTH "%d ? %d ",
			CALLS_PERSISTENT_MAX + 3, CALLS_PERSISTENT_MAX + 3);
	for (int i = 1; i <= CALLS_PERSISTENT_MAX + 3; i++)
		fprintf(out, "1 %d ", i);
	fprintf(out, NO NO NO NO "1 " NOTHING_BEFORE_REQUEST "1 " BOTH "10 ? 1 10 %d " NO NO NO NO,
			CALLS_PERSISTENT_MAX);
	fprintf(out, "1 " NOTHING_BEFORE_REQUEST "1 " BOTH "10 ? 1 10 %d " NO NO NO NO,
			CALLS_PERSISTENT_MAX + 1);
	fprintf(out,
			"structures 2 " RANK("0",
					"3 " CALL("MPI_Recv_init", "0") CALL("MPI_Start", "1")
							CALL("MPI_Start", "2"),
					"1 %d 1 " ONCE ONCE) RANK("1", "0 ", "") "end",
			CALLS_PERSISTENT_MAX + 3);
	fclose(out);
	is_int(verdict(text, &matching, why, sizeof(why)), 0,
			"more persistent requests than are kept");
	is_int((long long)matching.no_request, 4, "three are not made, and one is not started");
	is_int((long long)matching.carried, CALLS_PERSISTENT_MAX + 1, "the others are");
	free(text);
}

static void test_collectives(void)
{
	struct matching matching;
	char why[MATCHING_WHY_MAX];

	is_int(verdict(PAIR("paths 1 " SUM("8"), "1 " CALL("MPI_Allreduce", "0"), ONCE,
				       "1 " CALL("MPI_Scan", "0"), ONCE),
			       &matching, why, sizeof(why)),
			2, "another collective");
	ok(strstr(why, "MPI_Allreduce bytes 8 (call 1 of rank 0) is another collective than MPI_Scan"),
			"the message names both");
	is_int(verdict(PAIR("paths 1 " SUM("8"), "1 " CALL("MPI_Allreduce", "0"), "1 2 1 ",
				       "1 " CALL("MPI_Allreduce", "0"), ONCE),
			       &matching, why, sizeof(why)),
			2, "a collective too many");
	ok(strstr(why, "waits for rank 1, which makes no further call"),
			"the message names the rank");
	is_int(verdict(PAIR("paths 0 ", "1 " CALL("MPI_File_open", "-1"), ONCE,
				       "1 " CALL("MPI_Wait", "-1"), ONCE),
			       &matching, why, sizeof(why)),
			0, "calls that are not replayed are no obstacle");
	is_int((long long)matching.carried, 0, "they are counted");
	is_int((long long)matching.no_request, 1, "so are calls without an open request");
}

/* Each communicator of the program is a copy of MPI_COMM_WORLD as long as its calls fit together. */
static void test_copies(void)
{
	static const char text[] = PAIR("paths 2 " SUM_IN("8", "2") SUM_IN("8", "3"),
			"2 " CALL("MPI_Allreduce", "0") CALL("MPI_Allreduce", "1"), ONCE ONCE,
			"2 " CALL("MPI_Allreduce", "0") CALL("MPI_Allreduce", "1"), "1 1 1 1 2 1 ");
	static const char copy[] =
			PAIR("paths 1 " SUM_IN("8", "2"), "1 " CALL("MPI_Allreduce", "0"), ONCE,
					"1 " CALL("MPI_Allreduce", "0"), ONCE);
	struct plan *plan = plan_of(text);
	struct matching matching;
	unsigned copies = CALLS_ALL_COPIES;
	char why[MATCHING_WHY_MAX];

	is_int(plan ? matching_check(&matching, plan, NULL, &copies, why, sizeof(why)) : -1, 0,
			"a communicator whose calls do not fit together");
	is_int(copies, CALLS_ALL_COPIES & ~2u, "is no copy, and the other one is");
	is_int((long long)matching.copies, 2, "the calls in the copy are made");
	ok(matching.kinds == 1 && matching.kind[0].reason == CURSOR_COPY &&
					matching.kind[0].calls == 3,
			"those in the other one are counted");
	plan_free(plan);
	is_int(verdict(copy, &matching, why, sizeof(why)), 0, "a communicator of all ranks");
	is_int((long long)matching.copies, 2, "is a copy");
}

int main(void)
{
	test_calls();
	test_broken();
	test_messages();
	test_requests();
	test_named_requests();
	test_persistent();
	test_many_persistent();
	test_collectives();
	test_copies();
	return tap_done();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the names of addresses: from debug information, from symbols alone, and from neither. */
#include <dlfcn.h>
#include <stdlib.h>

#include "agent/symbols/source.h"
#include "tests/tap.h"

/* Returns its own return address. */
static __attribute__((noinline)) uintptr_t here(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

/* Prevents a tail call, because the address is only used after the call. */
#define AFTER_CALL(address) __asm__ volatile("" : "+r"(address))

enum { INNER_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) uintptr_t inner(void)
{
	uintptr_t address = here();

	AFTER_CALL(address);
	return address;
}

enum { OUTER_LINE = __LINE__ + 3 };
static __attribute__((noinline)) uintptr_t outer(void)
{
	uintptr_t address = inner();

	AFTER_CALL(address);
	return address;
}

enum { PLAIN_LINE = __LINE__ + 3 };
static __attribute__((noinline)) uintptr_t plain(void)
{
	uintptr_t address = here();

	AFTER_CALL(address);
	return address;
}

/* A function of a template whose name is longer than every buffer for it. */
#define TEN(x)       x x x x x x x x x x
#define LONG_TYPE(x) "60" TEN(x x x x x x)
#define LONG_NAME(x) TEN(x x x x x x)
#define LONG_SYMBOL                                                                                \
	"_ZN6solver5sweepI" LONG_TYPE("a") LONG_TYPE("b") LONG_TYPE("c") LONG_TYPE("d")            \
			LONG_TYPE("e") "EEvv"

/* Symbols as compilers name them: a method of C++, a procedure in a module of Fortran, and one outside. */
#define SYMBOL(name)                                                                               \
	".globl " name "\n.type " name ", @function\n" name ": nop\nret\n.size " name ", 2\n"
__asm__(".pushsection .text\n" SYMBOL("_ZN6solver4step5sweepEid") SYMBOL("__field_MOD_sweep")
				SYMBOL("sweep_") SYMBOL(LONG_SYMBOL) ".popsection\n");
extern const char method[] __asm__("_ZN6solver4step5sweepEid");
extern const char of_template[] __asm__(LONG_SYMBOL);
extern const char in_module[] __asm__("__field_MOD_sweep");
extern const char outside[] __asm__("sweep_");

static struct module modules[MODULES_MAX];
static unsigned module_count;

static void check_line(struct source *source, uintptr_t address, unsigned level,
		const char *function, unsigned line)
{
	struct source_place places[SOURCE_PLACES_MAX];
	unsigned count = source_find(source, address, places, SOURCE_PLACES_MAX);
	char position[512], wanted[64];

	if (!ok(count > level, "%s: a place at level %u", function, level))
		return;
	is_str(places[level].function, function, "its function");
	source_position(&places[level], position, sizeof(position));
	snprintf(wanted, sizeof(wanted), "/test_source.c:%u", line);
	if (!ok(strlen(position) > strlen(wanted) &&
					    strcmp(position + strlen(position) - strlen(wanted),
							    wanted) == 0,
			    "its line"))
		diag("got \"%s\", want \"...%s\"", position, wanted);
	is_str(places[level].module, "test_source", "its module");
}

static void check_name(struct source *source, const char *code, const char *function)
{
	struct source_place places[SOURCE_PLACES_MAX];

	source_find(source, (uintptr_t)code + 1, places, SOURCE_PLACES_MAX);
	is_str(places[0].function, function, "a name in clear");
}

static void test_debug(void)
{
	struct source *source = source_open(LIBRARY_FOLDER, modules, module_count);

	check_line(source, plain(), 0, "plain", PLAIN_LINE);
	check_line(source, outer(), 0, "inner", INNER_LINE);
	check_line(source, outer(), 1, "outer", OUTER_LINE);
	check_name(source, method, "solver::step::sweep");
	check_name(source, of_template,
			"void solver::sweep<" LONG_NAME("a") ", ..., " LONG_NAME("e") ">");
	check_name(source, in_module, "field::sweep");
	check_name(source, outside, "sweep");
	source_close(source);
}

static void check_position(struct source *source, uintptr_t address, const char *position)
{
	struct source_place places[SOURCE_PLACES_MAX];
	char got[512];

	is_int(source_find(source, address, places, SOURCE_PLACES_MAX), 1, "one place");
	source_position(&places[0], got, sizeof(got));
	is_str(got, position, "its position");
}

/* Checks for "name+0x12" at an address in a function that starts at `begin`. */
static void check_offset(struct source *source, uintptr_t address, const char *name,
		uintptr_t begin)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%s+0x%zx", name, (size_t)(address - begin));
	check_position(source, address, wanted);
}

static struct module *module_at(uintptr_t address)
{
	for (unsigned i = 0; i < module_count; i++)
		if (address >= modules[i].begin && address < modules[i].end)
			return &modules[i];
	return NULL;
}

static void test_without_debug(void)
{
	struct source *source = source_open("/nonexistent", modules, module_count);
	uintptr_t address = plain();

	check_position(source, (uintptr_t)dlsym(RTLD_DEFAULT, "getenv") + 5, "getenv+0x5");
	check_offset(source, address, "plain", (uintptr_t)plain);
	is_str(source_module_name(source, address), "test_source", "its module");
	check_position(source, 16, "?+0x10");
	is_str(source_module_name(source, 16), "?", "no module");
	source_close(source);
}

/* Files were removed, or are no longer ELF files. */
static void test_without_files(void)
{
	uintptr_t in_libc = (uintptr_t)dlsym(RTLD_DEFAULT, "getenv"), address = plain();
	struct module *libc = module_at(in_libc), *own = module_at(address);
	struct module kept[2] = { *libc, *own };
	struct source *source;

	strcpy(libc->path, "/nonexistent/libc.so.6");
	strcpy(own->path, "/etc/passwd");
	source = source_open(LIBRARY_FOLDER, modules, module_count);
	check_position(source, in_libc + 5, "getenv+0x5"); /* the loader knows it */
	check_offset(source, address, "passwd", own->base);
	source_close(source);
	*libc = kept[0];
	*own = kept[1];
}

static struct module gone[2];
static unsigned gone_count;

static unsigned list_gone(struct module *list, unsigned max)
{
	memcpy(list, gone, gone_count * sizeof(*gone));
	return gone_count <= max ? gone_count : max;
}

/* Checks the file of an address, or "?", after other files were unloaded. */
static void check_file(uintptr_t address, const char *wanted, const char *name)
{
	unsigned count = modules_ever(modules, MODULES_MAX);
	struct source *source = source_open(LIBRARY_FOLDER, modules, count);
	const char *got = source_module_name(source, address);

	ok(strcmp(got, wanted) == 0, "%s: %s", name, got);
	source_close(source);
}

static void test_unloaded(void)
{
	const struct module *libc = module_at((uintptr_t)dlsym(RTLD_DEFAULT, "getenv"));
	uintptr_t begin = libc->begin, end = libc->end, alone = 0x10000;
	struct module same = *libc;

	modules_remember(list_gone);
	gone[0] = same;
	gone_count = 1;
	check_file(begin + 16, "libc.so.6", "the same file has been there before");
	gone[0] = (struct module){ begin, begin, begin + 4096, "/lib/other.so" };
	check_file(begin + 16, "?", "another file has been there");
	check_file(begin + 4096 + 16, "libc.so.6", "but not there");
	gone[0].path[0] = '\0';
	check_file(begin + 16, "?", "one that is no longer what it was");
	gone[0] = (struct module){ alone, alone, alone + 8192, "/lib/first.so" };
	gone[1] = (struct module){ alone, alone + 4096, alone + 12288, "/lib/second.so" };
	gone_count = 2;
	check_file(alone + 16, "first.so", "of two, the first alone");
	check_file(alone + 4096 + 16, "?", "both");
	check_file(alone + 8192 + 16, "second.so", "the second alone");
	check_file(end - 16, "libc.so.6", "others are as they were");
	modules_remember(NULL);
}

int main(void)
{
	dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
	module_count = modules_ever(modules, MODULES_MAX);
	ok(module_count >= 3, "this program and its libraries");
	test_without_debug();
	test_without_files();
	if (access(LIBRARY_FOLDER "/" SOURCE_DEBUG_FILE, R_OK) == 0)
		test_debug();
	else
		ok(true, "debug information # SKIP built without elfutils");
	test_unloaded();
	return tap_done();
}

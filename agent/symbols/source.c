/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/symbols/source.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/symbols/elf_file.h"
#include "agent/symbols/frame_code.h"
#include "agent/symbols/name.h"

typedef char *demangler(const char *, char *, size_t *, int *);

struct loaded {
	struct module module;
	bool looked;                 /* the rest is filled in */
	struct elf_file *file;       /* NULL: it cannot be read */
	struct elf_file *debug_file; /* separate file with the debug information; NULL: none */
	void *opened;                /* debug information; NULL: none, or there is no reader */
};

struct source {
	const char *folder;
	bool looked;                       /* the reader was looked for */
	bool looked_for_demangler;         /* at the first C++ name */
	const struct source_debug *reader; /* NULL: no lines */
	demangler *demangle;               /* NULL: C++ names stay as they are */
	unsigned count;
	struct loaded loaded[];
};

/* ---- names ---- */

/*
 * Returns the demangler of C++ names, or NULL. The program has one if C++ is linked into it or into one of its
 * libraries. The command has none, so it opens the run-time library of C++.
 */
static demangler *find_demangler(struct source *source)
{
	void *library;

	if (source->looked_for_demangler)
		return source->demangle;
	source->looked_for_demangler = true;
	*(void **)&source->demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (source->demangle)
		return source->demangle;
	/* this also works if the program opened C++ with RTLD_LOCAL */
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&source->demangle = dlsym(library, "__cxa_demangle");
	return source->demangle;
}

/* Copies the first `length` characters of a name, shortened to `size`. */
static void copy_name(char *name, size_t size, const char *from, size_t length)
{
	char *whole = strndup(from, length);

	if (!whole) {
		name[0] = '\0';
		return;
	}
	name_shorten(whole, size - 1);
	snprintf(name, size, "%s", whole);
	free(whole);
}

/* Fills "module::name" for a symbol of gfortran, flang or ifort. Returns false if it is no such symbol. */
static bool fortran_name(const char *symbol, char *name, size_t size)
{
	const char *rest = NULL;
	size_t length = 0;

	if (strncmp(symbol, "__", 2) == 0 && (rest = strstr(symbol + 2, "_MOD_"))) {
		symbol += 2;
		length = (size_t)(rest - symbol);
		rest += strlen("_MOD_");
	} else if (strncmp(symbol, "_QM", 3) == 0 && (rest = strchr(symbol + 3, 'P'))) {
		symbol += 3;
		length = (size_t)(rest - symbol);
		rest++;
	} else if ((rest = strstr(symbol, "_mp_"))) {
		length = (size_t)(rest - symbol);
		rest += strlen("_mp_");
	}
	if (!rest || !length || !*rest)
		return false;
	snprintf(name, size, "%.*s::%s", (int)length, symbol, rest);
	return true;
}

/* Returns where the arguments of a demangled name begin, or its length if there are none. */
static size_t find_arguments(const char *demangled)
{
	size_t at = 0;

	/* "(anonymous namespace)" is no argument list, nor is "operator()" */
	for (;;) {
		at += strcspn(demangled + at, "(");
		if (strncmp(demangled + at, "(anonymous", 10) == 0)
			at += 10;
		else if (at >= 8 && strncmp(demangled + at - 8, "operator()", 10) == 0)
			at += 2;
		else
			return at;
	}
}

/* Fills the name of a C++ function without its arguments. Returns false if the symbol is not of C++. */
static bool cxx_name(struct source *source, const char *symbol, char *name, size_t size)
{
	demangler *demangle = strncmp(symbol, "_Z", 2) == 0 ? find_demangler(source) : NULL;
	char *demangled = NULL;
	int status;

	/* a part of the symbol could not be demangled, so all of it is needed */
	if (demangle)
		demangled = demangle(symbol, NULL, NULL, &status);
	if (!demangled)
		return false;
	copy_name(name, size, demangled, find_arguments(demangled));
	free(demangled);
	return true;
}

/* Fills the name of a linker's symbol as in the source, without arguments. */
static void clear_name(struct source *source, const char *symbol, char *name, size_t size)
{
	size_t length;

	if (!cxx_name(source, symbol, name, size) && !fortran_name(symbol, name, size))
		/* the version that the linker adds is removed: "clock_gettime@@GLIBC_2.17" */
		copy_name(name, size, symbol, strcspn(symbol, "@"));
	/* a Fortran procedure outside of modules ends with "_": "solve_" */
	length = strlen(name);
	for (size_t at = 0; at + 1 < length; at++)
		if (!islower((unsigned char)name[at]) && !isdigit((unsigned char)name[at]) &&
				name[at] != '_')
			return;
	if (length > 1 && name[length - 1] == '_')
		name[length - 1] = '\0';
}

/* ---- finding ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the file that holds the call before a return address, or NULL. */
static struct loaded *loaded_at(const struct source *source, uintptr_t address)
{
	for (unsigned i = 0; i < source->count; i++) {
		const struct module *module = &source->loaded[i].module;

		if (address - 1 >= module->begin && address - 1 < module->end)
			return (struct loaded *)&source->loaded[i];
	}
	return NULL;
}

const char *source_module_name(const struct source *source, uintptr_t address)
{
	const struct loaded *loaded = loaded_at(source, address);

	return loaded ? base_name(loaded->module.path) : "?";
}

struct source *source_open(const char *folder, const struct module *modules, unsigned count)
{
	struct source *source = calloc(1, sizeof(*source) + count * sizeof(*source->loaded));

	if (!source)
		return NULL;
	source->folder = folder;
	source->count = count;
	for (unsigned i = 0; i < count; i++)
		source->loaded[i].module = modules[i];
	return source;
}

void source_close(struct source *source)
{
	for (unsigned i = 0; source && i < source->count; i++) {
		struct loaded *loaded = &source->loaded[i];

		if (loaded->opened)
			source->reader->close(loaded->opened);
		elf_file_close(loaded->debug_file);
		elf_file_close(loaded->file);
	}
	free(source);
}

/* Returns the reader of debug information, which is opened at the first call, or NULL. */
static const struct source_debug *reader_of(struct source *source)
{
	char path[4096 + sizeof(SOURCE_DEBUG_FILE) + 1];
	source_debug_entry *entry = NULL;
	void *library;

	if (source->looked)
		return source->reader;
	source->looked = true;
	snprintf(path, sizeof(path), "%s/%s", source->folder, SOURCE_DEBUG_FILE);
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&entry = dlsym(library, SOURCE_DEBUG_ENTRY);
	if (entry)
		source->reader = entry();
	return source->reader;
}

/* Returns whether it is the C library, whose lines take 40 ms to read and tell no more than its functions. */
static bool is_system(const struct module *module)
{
	static const char *const names[] = { "libc.so.", "libm.so.", "libpthread.so.", "ld-" };
	const char *name = base_name(module->path);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void look_into(struct source *source, struct loaded *loaded)
{
	char path[4096];

	loaded->looked = true;
	loaded->file = elf_file_open(loaded->module.path);
	if (!loaded->file || !elf_file_debug(loaded->file, path, sizeof(path)))
		return;
	if (strcmp(path, loaded->module.path) != 0)
		loaded->debug_file = elf_file_open(path);
	if (!is_system(&loaded->module) && reader_of(source))
		loaded->opened = source->reader->open(path);
}

/* Finds the function that holds the address by symbols. Returns false if there is none. */
static bool find_function(const struct loaded *loaded, uintptr_t address, const char **name,
		uintptr_t *begin)
{
	*name = NULL;
	if (loaded->file)
		*name = elf_file_function(loaded->file, ELF_SYMBOLS_ALL, address, begin);
	if (!*name && loaded->debug_file)
		*name = elf_file_function(loaded->debug_file, ELF_SYMBOLS_ALL, address, begin);
	if (!*name && loaded->file)
		*name = elf_file_function(loaded->file, ELF_SYMBOLS_DYNAMIC, address, begin);
	return *name;
}

/* Fills what the loader knows of an address in a file that this process has loaded, but cannot read. */
static void find_by_loader(const struct module *module, uintptr_t address,
		struct source_place *place)
{
	Dl_info info;

	if (!dladdr((void *)(address - 1), &info) || !info.dli_sname)
		return;
	/* an address of another process may mean something else in this one */
	if ((uintptr_t)info.dli_fbase + 4096 <= module->begin ||
			(uintptr_t)info.dli_fbase >= module->end)
		return;
	place->linkage = info.dli_sname;
	place->offset = address - (uintptr_t)info.dli_saddr;
}

static unsigned find_in(struct source *source, struct loaded *loaded, uintptr_t address,
		struct source_place *places, unsigned max)
{
	/* the call itself is before the address that it returns to */
	uintptr_t call = address - 1 - loaded->module.base, begin;
	unsigned count = 0;
	const char *name;

	if (!loaded->looked)
		look_into(source, loaded);
	if (loaded->opened)
		count = source->reader->find(loaded->opened, call, places, max);
	if (!count) {
		places[0] = (struct source_place){ .offset = address - loaded->module.base };
		count = 1;
	}
	if (find_function(loaded, call, &name, &begin)) {
		struct source_place *outermost = &places[count - 1];

		if (!outermost->linkage)
			outermost->linkage = name;
		outermost->offset = call + 1 - begin;
	} else if (!loaded->file) {
		find_by_loader(&loaded->module, address, &places[0]);
	}
	return count;
}

unsigned source_find(struct source *source, uintptr_t address, struct source_place *places,
		unsigned max)
{
	struct loaded *loaded = loaded_at(source, address);
	unsigned count = 1;

	if (loaded)
		count = find_in(source, loaded, address, places, max);
	else
		places[0] = (struct source_place){ .offset = address };
	for (unsigned i = 0; i < count; i++) {
		places[i].function[0] = '\0';
		if (places[i].linkage)
			clear_name(source, places[i].linkage, places[i].function,
					sizeof(places[i].function));
		places[i].linkage = NULL;
		snprintf(places[i].module, sizeof(places[i].module), "%.*s",
				(int)sizeof(places[i].module) - 1,
				loaded ? base_name(loaded->module.path) : "?");
	}
	return count;
}

bool source_alias(struct source *source, uintptr_t inside, uintptr_t returns, char *name,
		size_t size)
{
	struct loaded *loaded = loaded_at(source, inside);
	const char *called, *function;
	uintptr_t begin;

	if (!loaded || loaded != loaded_at(source, returns))
		return false;
	if (!loaded->looked)
		look_into(source, loaded);
	if (!loaded->opened ||
			!find_function(loaded, inside - 1 - loaded->module.base, &function, &begin))
		return false;
	called = source->reader->called(loaded->opened, returns - loaded->module.base);
	if (!called || strcmp(called, function) == 0 ||
			!elf_file_has_alias(loaded->debug_file ? loaded->debug_file : loaded->file,
					called, begin))
		return false;
	clear_name(source, called, name, size);
	return true;
}

/* Returns the file that holds the call before a return address, after a look into it, or NULL if it cannot be read. */
static struct loaded *readable_at(struct source *source, uintptr_t address)
{
	struct loaded *loaded = loaded_at(source, address);

	if (loaded && !loaded->looked)
		look_into(source, loaded);
	return loaded && loaded->file ? loaded : NULL;
}

bool source_is_return(struct source *source, uintptr_t address)
{
	const struct loaded *loaded = readable_at(source, address);
	size_t count, before;
	const uint8_t *last;

	if (!loaded)
		return true;
	/* the last byte of the call, because nothing may follow it */
	last = elf_file_code(loaded->file, address - 1 - loaded->module.base, &count, &before);
	if (!last)
		return false;
	before = before < FRAME_CODE_CALL ? before : FRAME_CODE_CALL;
	return frame_code_calls(last - before, before + 1);
}

bool source_keeps_frame(struct source *source, uintptr_t address, bool returned)
{
	const struct loaded *loaded = readable_at(source, returned ? address : address + 1);
	uintptr_t at, begin;
	size_t count, before, length;
	const uint8_t *code;
	const char *name;

	if (!loaded)
		return false;
	at = address - returned - loaded->module.base;
	if (!find_function(loaded, at, &name, &begin))
		return false;
	code = elf_file_code(loaded->file, at, &count, &before);
	if (!code || at - begin > before || (!returned && frame_code_returns(code, count)))
		return false;
	length = at - begin;
	return frame_code_sets(code - length,
			length < FRAME_CODE_ENTRY ? length : FRAME_CODE_ENTRY);
}

void source_position(const struct source_place *place, char *text, size_t size)
{
	if (*place->file && place->line)
		snprintf(text, size, "%s:%u", place->file, place->line);
	else
		snprintf(text, size, "%s+0x%zx", *place->function ? place->function : place->module,
				place->offset);
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that the preload cannot reach run as without it, and the user is told before they start.
. "$(dirname "$0")/lib.sh"

cat >sum.c <<'X'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	int *numbers = malloc(100 * sizeof(int)), sum = 0;

	for (int i = 0; i < 100; i++)
		numbers[i] = i;
	for (int i = 0; i < 100; i++)
		sum += numbers[i];
	free(numbers);
	printf("%d\n", sum);
	return 3;
}
X
have gcc || skip_all "no compiler"
gcc -O1 sum.c -o sum || skip_all "no compiler"

# observed NAME COMMAND...: runs it by phasemux run, as a user does
observed() { run "$1" PHASEMUX_OUTPUT="$tmp/$1.result" PHASEMUX_SPOOL="$tmp/spool" "$phasemux" run -- "${@:2}"; }

run bare ./sum
observed plain ./sum
unchanged plain bare
is "$(grep -c 'cannot be observed' plain.err)" 0 "no line is printed for a program that can be observed"

for words in "-u LD_PRELOAD" "--unset=LD_PRELOAD" "-i" "-C . -u LD_PRELOAD" "LD_PRELOAD="; do
	observed env env $words ./sum
	unchanged env bare
	holds "env $words: a line says that the preload is taken away" \
		grep -q '^phasemux: env takes LD_PRELOAD away' env.err
done
observed env env -i LD_PRELOAD="$library" ./sum
is "$(grep -c 'cannot be observed' env.err)" 0 "no line is printed for an env that names phasemux again"
observed env env -u HOME A=-i ./sum -i
is "$(grep -c 'cannot be observed' env.err)" 0 "no line is printed for an env that leaves it"

if gcc -O1 -static sum.c -o static 2>/dev/null; then
	observed static ./static
	unchanged static bare
	holds "a static program: a line says so" \
		grep -q '^phasemux: ./static cannot be observed: it is linked statically' static.err
	observed below env ./static
	unchanged below bare
	holds "also where something else starts it" grep -q '^phasemux: ./static cannot be observed' below.err
	mkdir bin
	cp static bin/in_path
	PATH=$tmp/bin:$PATH observed in_path in_path
	unchanged in_path bare
	holds "also where it is found by PATH" \
		grep -q "^phasemux: $tmp/bin/in_path cannot be observed" in_path.err
else
	skip "static programs" "no static C library"
fi
if gcc -O1 -static-pie sum.c -o static_pie 2>/dev/null; then
	observed static_pie ./static_pie
	unchanged static_pie bare
	holds "a static program that can lie anywhere: a line says so" \
		grep -q 'it is linked statically' static_pie.err
else
	skip "static-pie" "not built"
fi

if [ "$(id -u)" = 0 ] && cp sum other_rights && chown 65534 other_rights && chmod u+s other_rights; then
	observed other_rights ./other_rights
	holds "set-user-id: a line says so" \
		grep -q '^phasemux: ./other_rights cannot be observed: it runs with other rights' other_rights.err
else
	skip "set-user-id" "only root makes such a file"
fi

printf '\177ELF\001\001\001%060d' 0 >old
chmod +x old
observed old ./old
holds "a program for other processors: a line says so" \
	grep -q '^phasemux: ./old cannot be observed: it is for another kind of processor' old.err
printf 'no program at all' >text
observed text cat ./text
is "$(cat text.out) $(grep -c 'cannot be observed' text.err)" "no program at all 0" "a file that is no program is none of these"

# a folder that LD_PRELOAD cannot name
for folder in 'a b' 'a:b' 'a$b'; do
	mkdir "$folder"
	cp "$phasemux" "$build"/libphasemux*.so "$folder"
	run folder "$folder/phasemux" run -- ./sum
	is "$(cat folder.code) $(cat folder.out)" "1 " "phasemux in the folder '$folder' starts nothing"
	holds "and says why" grep -q '^phasemux: its folder cannot be preloaded from' folder.err
done

if [ -z "$sanitizer" ] && gcc -O1 -fsanitize=address sum.c -o with_asan 2>/dev/null && ./with_asan >/dev/null; [ $? = 3 ]; then
	observed with_asan ./with_asan
	unchanged with_asan bare
	holds "a program with AddressSanitizer is observed" report schema "$tmp/with_asan.result/report.json"
	ASAN_OPTIONS= observed asks sh -c 'echo "$ASAN_OPTIONS"'
	is "$(cat asks.out)" "verify_asan_link_order=0" "the sanitizer is told that it need not come first"
	ASAN_OPTIONS=verify_asan_link_order=1:exitcode=9 observed own sh -c 'echo "$ASAN_OPTIONS"'
	is "$(cat own.out)" "verify_asan_link_order=1:exitcode=9" "unless its user says otherwise"
else
	skip "a program with AddressSanitizer" "not built, or this phasemux has a sanitizer"
fi

done_testing

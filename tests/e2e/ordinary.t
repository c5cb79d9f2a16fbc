#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary programs, with LD_PRELOAD exported in a shell, and under `phasemux run`, which makes programs targets
# that start no others. They behave as before, and no file is left behind.
. "$(dirname "$0")/lib.sh"

targets=0
becomes=

inside() { cd "$tmp/here" && exec timeout 60 "$@"; }

# same NAME COMMAND...: runs it in new empty folders, alone, preloaded and as a target. Output, errors, exit
# code and the files that are left are the same.
same() {
	local name=$1 kind

	shift
	rm -rf "$tmp/result" "$tmp"/*.code
	for kind in bare preloaded observed; do
		rm -rf "$tmp/here" && mkdir "$tmp/here"
		case $kind in
		bare) run bare inside "$@" ;;
		preloaded) run preloaded LD_PRELOAD="$library" inside "$@" ;;
		observed) run observed inside "$phasemux" run --report json --output "$tmp/result" \
			--spool "$tmp/spool" -- "$@"
			# the line about a launcher that observes nothing (launchers.t)
			sed -i '/^phasemux: no report: nothing that this command started/d' "$tmp/observed.err" ;;
		esac
		(cd "$tmp/here" && find . -path ./r/.git -prune -o -print | sort) >"$tmp/$kind.files"
		# a program that is killed, or becomes another program, leaves its sums
		[ "$(cat "$tmp/$kind.code")" -gt 128 ] || [ "$becomes" ] || find "$tmp/spool" -type f >>"$tmp/$kind.files"
		find "$tmp/spool" -type f -delete
	done
	[ -s "$tmp/result/report.json" ] && targets=$((targets + 1))
	for kind in preloaded observed; do
		holds "$name, $kind" diff -a -r --label bare --label $kind \
			<(tail -n +1 "$tmp"/bare.* | sed 's/bare//g') \
			<(tail -n +1 "$tmp"/$kind.* | sed "s/$kind//g")
	done
}

same_if() {
	have "$1" && same "$(basename "$1") $2" "$@"
}

needed_by() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ' | sed 's/ $//'; }
left() { find /dev/shm /tmp -maxdepth 1 -name '*phasemux*' ! -name 'phasemux-test.*' 2>/dev/null | sort; }

before=$(left)

cat >"$tmp/hello.c" <<'END'
#include <stdio.h>
int main(void) { puts("hello"); return 4; }
END
cat >"$tmp/throws.cpp" <<'END'
#include <cstdio>
#include <stdexcept>
int main() { try { throw std::runtime_error("x"); } catch (std::exception &e) { puts(e.what()); } throw 5; }
END

same "true" true
same "false" false
same "sh" sh -c 'echo $0; x=$(echo inside); echo $x >&2; exit 3'
same "sh with a pipe and a background job" sh -c 'seq 100000 | sort -rn | head -n 2; sleep 0.1 & wait; echo done'
same "bash" bash -c 'shopt -s nullglob; cat <(echo a) <(echo b); echo ${BASHOPTS} | wc -c; exit 9'
same "ls" ls -la /usr/include/stdio.h
same "ls of what is not there" ls /nonexistent
same "descriptors of a shell" sh -c 'ls /proc/self/fd | wc -l'
same "awk" awk 'BEGIN { for (i = 0; i < 1e5; i++) s += i; print s }'
same "sed" sed -n '1,3p' /etc/passwd
same "grep" grep -c root /etc/passwd
same "find and xargs" sh -c 'find /etc -maxdepth 1 -name "pass*" | xargs wc -l'
same "tar and gzip" sh -c 'tar -C /etc -czf a.tgz passwd group && tar -tzf a.tgz'
same "make" make -f /dev/null nothing
same "gcc" sh -c "gcc -O2 $tmp/hello.c -o hello && ./hello"
same "gcc with an error" gcc -c /nonexistent.c
same "perl" perl -e 'print join(",", map { $_ * 2 } 1..5), "\n"; exit 6'
same "python3" "$python" -c 'import sys, json, threading, subprocess
t = threading.Thread(target=lambda: print("thread")); t.start(); t.join()
print(subprocess.run(["echo", "child"], capture_output=True).stdout, json.dumps({"a": 1}))
sys.exit(7)'
same "python3 with an exception" "$python" -c 'raise SystemExit("no")'
same "python3 opens the preload again" "$python" -c "import ctypes; ctypes.CDLL('$library'); print('ok')"
same "a program without MPI" "$programs/plain" 10
same "env -i" env -i LD_PRELOAD="$library" /bin/echo alone
same "timeout" timeout 5 sleep 0.2
same "nohup" nohup true
same "setsid" setsid -w sh -c 'exit 5'
same "cp, diff, patch" sh -c 'cp /etc/passwd a && sed s/root/toor/ a >b; diff -u a b >d; echo $?; patch -s a d && cmp a b'
same "dd" dd if=/dev/zero bs=1k count=64 status=none of=zeros
same "sort and uniq" sh -c 'seq 50000 | rev | sort | uniq -c | tail -n 1'
same "od" od -c /etc/hostname
same "date" date -u -d @0
same "ldd" sh -c 'ldd /bin/ls | grep -c libc.so'
same "objdump" sh -c 'objdump -f /bin/ls | grep format'
same "a subshell that execs" sh -c '(exec sh -c "exec echo deep")'
same "closed descriptors" sh -c 'exec 0<&- 1>&- 2>&-; ls /'
same "a limit of descriptors" sh -c 'ulimit -n 8; echo few'
same "perl forks" perl -e 'for (1..5) { my $p = fork; exit $_ unless $p; waitpid $p, 0; print $? >> 8, "\n" }'
same "python3 multiprocessing" "$python" -c '
import multiprocessing as m
if __name__ == "__main__":
    print(m.get_context("fork").Pool(3).map(abs, [-1, -2, -3]))'
# Each program runs by itself, because it is then a target. A program that a shell starts is not.
cat >"$tmp/words" <<'END'
one two three
END
for command in cat wc tac rev md5sum sha256sum base64 nl fold expand paste cut sort uniq od xxd hexdump \
	gzip bzip2 xz zstd strings file; do
	case $command in
	gzip | bzip2 | xz | zstd) same_if $command -c "$tmp/words" ;;
	cut) same_if cut -d' ' -f2 "$tmp/words" ;;
	*) same_if $command "$tmp/words" ;;
	esac
done
same_if find /etc -maxdepth 0
same_if tar -C /etc -czf a.tgz passwd group
same_if cp /etc/passwd a
same_if dd if=/dev/zero of=zeros bs=1k count=64 status=none
have bc && same "bc" sh -c 'echo 1 + 1 | bc'
same_if m4 -DA=b "$tmp/words"
same_if jq -n '1 + 1'
same_if sqlite3 :memory: 'select 6 * 7'
same_if openssl dgst -sha256 "$tmp/words"
have tclsh && same "tclsh" sh -c 'echo "puts [expr 6 * 7]" | tclsh'
same_if vim -u NONE -es "$tmp/words" -c '%p' -c 'q!'
same_if gcc -O2 "$tmp/hello.c" -o hello
same_if readelf -h /bin/ls
same_if nm -D /bin/ls
same_if as -o nothing.o /dev/null
same_if ssh -V
same_if ninja --version
same_if git -C "$root" rev-parse --git-dir
same_if git init -q r
same_if perl -e 'open my $f, "<", "/dev/null"; print fileno($f), " ", scalar(grep { /(\d+)$/ && $1 < 64 } glob "/proc/self/fd/*")'
same_if "$python" -c 'import os; print(sorted(d for d in map(int, os.listdir("/proc/self/fd")) if d < 64))'
have g++ && g++ "$tmp/throws.cpp" -o "$tmp/throws" && same "an exception caught and one not" \
	sh -c 'ulimit -c 0; exec "$1"' - "$tmp/throws"
becomes=another
have psql && same "psql, by its wrapper" psql --version
have valgrind && same "valgrind" valgrind -q --error-exitcode=9 true
becomes=
have strace && same "strace" strace -qq -e trace=none true
have java && same "java" java -version
have node && same "node" node -e 'console.log([1, 2].map(x => x * 2))'
have gfortran && same "gfortran" sh -c 'echo "print *, 42; end" >a.f90 && gfortran a.f90 -o a && ./a'
have g++ && same "g++, an exception caught and one not" \
	sh -c "ulimit -c 0; g++ $tmp/throws.cpp -o throws && ./throws" || :
have git && same "git" sh -c 'git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m one --date=2020-01-01T00:00:00Z && git log --format=%s && git status -s'
have cmake && same "cmake" cmake -E echo made
have ps && same "ps" ps -o comm= -p 1
have curl && same "curl" curl -s file:///etc/hostname
have gdb && same "gdb" gdb -q -batch -ex 'print 6*7'
[ "$(id -u)" -eq 0 ] && as_root=--allow-run-as-root || as_root=
have mpirun.openmpi && same "mpirun of Open MPI" mpirun.openmpi --oversubscribe $as_root -n 2 sh -c 'echo rank'
have mpirun.mpich && same "mpirun of MPICH" mpirun.mpich -n 2 sh -c 'echo rank'
have mpicc.openmpi && same "mpicc" mpicc.openmpi --version

# a program that puts itself into a sandbox, as Debian 13's xz does; its threads are in the report
same "a program in a sandbox" "$programs/sandboxed"
if [ "$(cat "$tmp/bare.code")" = 77 ]; then
	skip "a sandbox" "this kernel has no Landlock"
else
	holds "the report of a program in a sandbox has its threads" report value "$tmp/result/report.json" threads 3
	run killed "$phasemux" run --output "$tmp/result" --spool "$tmp/spool" -- "$programs/sandboxed" killed
	run recovered "$phasemux" recover --json "$tmp"/spool/phasemux.*/*
	holds "a program that is killed in a sandbox says which threads it misses" \
		grep -q "2 threads are missing" "$tmp/recovered.out"
fi

[ "$targets" -ge 40 ]
ok $? "$targets programs were targets, and have their reports"
is "$(left)" "$before" "nothing is left in /dev/shm and /tmp"
for variable in PHASEMUX_SCHEME=nonsense PHASEMUX_EVENTS=nonsense PHASEMUX_DISABLE=1; do
	run silent LD_PRELOAD="$library" $variable sh -c 'ls / >/dev/null'
	is "$(cat silent.err silent.out)" "" "$variable is none of an ordinary program's business"
done

is "$(needed_by "$library")" libc.so.6 "the preload needs libc alone"
done_testing

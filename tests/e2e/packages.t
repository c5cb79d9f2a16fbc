#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of packages: their syntax, their versions and dependencies, and a tree without git.
. "$(dirname "$0")/lib.sh"

version=$(sed -n 's/^project(phasemux VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
recipe=$root/packaging/spack/packages/phasemux/package.py
easyconfig=$(echo "$root"/packaging/easybuild/*.eb)
holds "the recipe for Spack is Python" env PYTHONPYCACHEPREFIX="$tmp" "$python" -m py_compile "$recipe"
holds "it has this version" grep -q "^    version(\"$version\"" "$recipe"
# The file is Python with some names of EasyBuild.
holds "the file for EasyBuild has what EasyBuild requires, and this version" "$python" -c '
import os, sys
values = {"SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), values)
for key in "name version homepage description toolchain easyblock sources moduleclass".split():
    assert values[key], key
assert values["version"] == sys.argv[2], values["version"]
name = "{name}-{version}-{toolchain[name]}-{toolchain[version]}.eb".format(**values)
assert os.path.basename(sys.argv[1]) == name, name
assert "LD_PRELOAD" not in str(values["modextravars"])' "$easyconfig" "$version"
is "$(sed -n '1s/^phasemux (\(.*\)) .*/\1/p' "$root/debian/changelog")" "$version" "the package of Debian has this version"

# Options of the build that recipes set, and CMake would ignore if they were not there.
cmake -N -LA "$build" | sed -n 's/^\([A-Za-z_]*\):.*/\1/p' | sort >known
grep -ohE 'PHASEMUX_[A-Z]+=' "$root/debian/rules" "$easyconfig" | tr -d = >asked
grep -oE '"PHASEMUX_[A-Z]+"' "$recipe" | tr -d '"' | grep -v PRELOAD >>asked
holds "recipes set options" test -s asked
is "$(sort -u asked | comm -23 - known)" "" "which the build has"

# Debian's packages to build with: those of tools/install-needed, without the tools that every build has
sed -n 's/^build\t*\([^\t]*\)\t.*/\1/p' "$root/tools/install-needed" |
	grep -vxE 'gcc|libc6-dev|make' | sort >needed
sed -n '/^Build-Depends:/,/^Standards-Version:/p' "$root/debian/control" | sed '$d; s/^[A-Z][^ ]*//; s/[(,].*//' |
	tr -d ' ' | grep -vxE 'debhelper-compat|libslurm-dev' | sort >depends
is "$(cat depends)" "$(cat needed)" "debian/control has the packages of tools/install-needed"
for package in $(cat needed); do
	grep -q "[| ]$package[ ,]" "$root/docs/packages.md" || echo "$package"
done >missing
is "$(cat missing)" "" "docs/packages.md names them"

if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
	mkdir archive
	git -C "$root" archive HEAD | tar -x -C archive
	# a git that is called fails
	mkdir bin
	printf '#!/bin/sh\necho git >>"%s/called"\nexit 1\n' "$tmp" >bin/git
	chmod +x bin/git
	holds "git archive: the tree is configured" env PATH="$tmp/bin:$PATH" \
		cmake -S archive -B archive-build -DPHASEMUX_PROGRAMS=OFF
	holds "without git" test ! -e called
else
	skip "git archive" "this tree is not of git"
fi

# A bare Debian takes minutes to make, so that tests/distro is asked for none here.
for request in "" "nosuch" "--only all trixie" "--only" "--keep" "--nosuch trixie" "bookworm trixie" "trixie --"; do
	# shellcheck disable=SC2086
	run distro "$root/tests/distro" $request
	is "$(cat distro.code)" 2 "tests/distro $request: refused"
	is "$(sed 's/^\(distro: [^ ]*\).*/\1/' distro.err | tail -n 1) $(wc -l <distro.err)" "distro: usage: 2" "with the reason and the usage"
done

done_testing

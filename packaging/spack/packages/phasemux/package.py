# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for phasemux. packaging/README.md says how to use it."""
import os

from spack.package import *


class Phasemux(CMakePackage):
    """Every hardware counter of every phase of a parallel program, from one run.

    phasemux is preloaded into unmodified programs that use MPI, OpenMP or POSIX threads."""

    # There is no public place of releases yet: `spack develop --path DIR phasemux@0.2.0` takes a tree.
    git = "file:///path/to/phasemux"

    license("BSD-3-Clause")

    version("0.2.0", tag="v0.2.0")

    variant("libpfm", default=True, description="Events by the names of libpfm4")
    variant("papi", default=False, description="PAPI's presets as names of events")
    variant("libdw", default=True, description="Phases with files and lines, by elfutils")
    variant("slurm", default=False, description="The plugin for Slurm")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson@2.14:")
    depends_on("userspace-rcu@0.13:")
    depends_on("libpfm4", when="+libpfm")
    depends_on("papi", when="+papi")
    depends_on("elfutils", when="+libdw")
    depends_on("slurm", when="+slurm")

    conflicts("platform=darwin", msg="phasemux reads the counters of Linux")

    def cmake_args(self):
        # Spack's own CMAKE_INSTALL_RPATH has libpfm4 and PAPI, which are opened by their sonames.
        args = [self.define("PHASEMUX_PROGRAMS", False), self.define("CMAKE_BUILD_TYPE", "Release")]
        for feature in ("libpfm", "papi", "libdw", "slurm"):
            args.append(self.define_from_variant(f"PHASEMUX_{feature.upper()}", feature))
        return args

    def setup_run_environment(self, env):
        # Never LD_PRELOAD or LD_LIBRARY_PATH, which would change every program of the session.
        preloads = find_libraries("libphasemux", self.prefix, shared=True, recursive=True)
        if preloads:
            env.set("PHASEMUX_PRELOAD", preloads[0])

    def test_report(self):
        """A program that is built as users build theirs has a report."""
        source = "int main(void) { volatile double x = 0; for (int i = 0; i < 300000000; i++) x += i; return 0; }"
        with open("program.c", "w") as file:
            file.write(source)
        compiler = which("cc")
        compiler("-O1", "program.c", "-o", "program")
        which(self.prefix.bin.phasemux)("run", "--output=result", "--", os.path.abspath("program"))
        assert os.path.getsize(os.path.join("result", "report.json")) > 0

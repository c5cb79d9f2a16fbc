#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""valgrind.py FILE...: prints the errors and leaks of phasemux in valgrind's XML; exit code 0: there are none.

An error belongs to the innermost frame that is neither in the C library nor in a library that works for phasemux.
Memory that is reachable at the end is no leak, because other threads may still read it.
"""
import os
import sys
import xml.etree.ElementTree as tree

# The adapter itself allocates nothing.
NOBODY = ("libc.so", "ld-linux", "vgpreload", "libstdc++", "libm.so", "libjansson", "libpfm",
          "liburcu", "libdw", "libelf", "libphasemux-openmpi", "libphasemux-mpich", "libphasemux-mpi-abi")


# These libraries call nothing that phasemux opens. If they seem to, one of their unloaded plugins had the addresses.
MPI = ("libopen-", "libmpi.", "libmpich.")


def owner(error):
    names = [os.path.basename(frame.findtext("obj") or "") for frame in error.find("stack")]
    for name, caller in zip(names, names[1:] + [""]):
        gone = name.startswith("libphasemux-") and caller.startswith(MPI)
        if name and not gone and not name.startswith(NOBODY):
            return name
    return ""


def of_running_thread(error):
    """Returns whether this is the loader's memory of a thread that runs beyond the end, which only the processor finds."""
    return any((frame.findtext("fn") or "").startswith(("allocate_dtv", "_dl_allocate_tls"))
               for frame in error.find("stack"))


def main():
    ours = 0
    for path in sys.argv[1:]:
        for error in tree.parse(path).getroot().iter("error"):
            if error.findtext("kind") == "Leak_StillReachable" or of_running_thread(error):
                continue
            if not owner(error).startswith("libphasemux"):
                continue
            ours += 1
            print(error.findtext("what") or error.findtext("xwhat/text"))
            for frame in error.find("stack"):
                print("   ", frame.findtext("fn"), os.path.basename(frame.findtext("obj") or ""),
                      frame.findtext("file"), frame.findtext("line"))
    return ours > 0


sys.exit(main())

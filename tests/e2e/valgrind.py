#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""valgrind.py FILE...: errors and leaks, of valgrind's XML, that are phasemux's; exit 0: none.

Whose an error is, the innermost frame says that is neither the C library's nor of a library that
works for us. What is reachable at the end is no leak: other threads may still look at it.
"""
import os
import sys
import xml.etree.ElementTree as tree

# The adapter itself allocates nothing.
NOBODY = ("libc.so", "ld-linux", "vgpreload", "libstdc++", "libm.so", "libjansson", "libpfm",
          "liburcu", "libdw", "libelf", "libphasemux-openmpi", "libphasemux-mpich", "libphasemux-mpi.")


# They call none of what we open: where they seem to, a plugin of theirs that is gone had the addresses.
MPI = ("libopen-", "libmpi.", "libmpich.")


def owner(error):
    names = [os.path.basename(frame.findtext("obj") or "") for frame in error.find("stack")]
    for name, caller in zip(names, names[1:] + [""]):
        gone = name.startswith("libphasemux-") and caller.startswith(MPI)
        if name and not gone and not name.startswith(NOBODY):
            return name
    return ""


def of_running_thread(error):
    """What the loader keeps for a thread that runs on past the end is found by the processor alone."""
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

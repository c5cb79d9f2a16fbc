#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the table of intercepted MPI calls with an MPI that is installed here.

    mpi_table.py TABLE ARGUMENTS LEFT_ALONE PRELOAD CC [FC]

TABLE is agent/boundary/mpi_calls.def, ARGUMENTS agent/boundary/mpi_arguments.def, LEFT_ALONE a list of procedures without a row, each with its reason, PRELOAD
libphasemux.so, CC and FC the compilers of the MPI (mpicc, mpif90). Read are the header mpi.h, the modules mpi and mpi_f08 of gfortran,
and the names that the libraries export. Prints each difference; exits with 1 if there is one.
"""
import glob
import gzip
import os
import re
import subprocess
import sys

SUFFIXES = ("_c_f08ts_", "_c_f08_", "_f08ts_large_", "_f08_large_", "_f08ts_", "_f08_", "_cptr_", "__",
            "_", "")
# Fortran has neither argc and argv of C, nor the arguments after the level of MPI_Pcontrol.
FORTRAN_OWN = {"MPI_Init": 1, "MPI_Init_thread": 3, "MPI_Pcontrol": 2}
# The modules differ in one argument. The standard has no ierror in the first, but MPICH's mpi_f08 has one. In the
# others, mpi_f08 of Open MPI 5 has forgotten the info.
PERHAPS_ONE_FEWER = {"mpi_pcontrol", "mpi_precv_init", "mpi_psend_init"}
# Names that MPI 3.0 asked of modules with BIND(C), and later versions no more: Open MPI exports them, none calls them.
BIND_C = re.compile(r"MPI_[A-Z][a-z0-9_]+_f(08)?")


# What mpi.h calls the arguments that mpi_arguments.def names, of Open MPI and of MPICH.
NAMES = {"TO": ("dest", "target_rank", "rank"), "FROM": ("source", "target_rank"), "ROOT": ("root",), "WINDOW": ("win",),
         "COMM": ("comm", "comm_old", "oldcomm", "old_comm", "local_comm", "intercomm"),
         "CHILD": ("newcomm", "new_comm", "comm_cart", "comm_graph", "newintercomm", "newintracomm", "comm_dist_graph"),
         "TAG": ("tag", "sendtag"), "FROM_TAG": ("recvtag",),
         "BYTES": ("count", "sendcount", "recvcount", "origin_count", "result_count"), "AT_ROOT": ("sendcount", "recvcount"),
         "FROM_BYTES": ("recvcount",), "OWN_BYTES": ("recvcounts",), "AT_ROOT_OWN": ("recvcounts", "sendcounts"),
         "REQUEST": ("request",), "START": ("request", "array_of_requests"), "REQUESTS": ("count", "incount"),
         "OPENS": ("request",), "WAIT": ("request", "array_of_requests"), "DONE": ("outcount",),
         "WHICH": ("index", "indx", "array_of_indices"),
         "ALL_BYTES": ("recvcounts",), "ALL_TYPES": ("recvcounts",)}
TYPES = ("type", "datatype", "sendtype", "recvtype", "recvtypes", "origin_datatype", "result_datatype")


def output_of(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def read_table(path):
    """Rows by C name: Fortran name, number of arguments in C and in Fortran."""
    with open(path) as file:
        rows = re.findall(r"^MPI_CALL\((\w+), (\w+), (\d+), (\d+), \w+\)", file.read(), re.M)
    return {"MPI_" + c: (fortran, int(of_c), int(of_fortran)) for c, fortran, of_c, of_fortran in rows}


def read_arguments(path):
    """Rows by C name: each argument that is kept, and its numbers from 1."""
    with open(path) as file:
        rows = re.findall(r"^MPI_ARGUMENTS\((\w+), (.*)\)$", file.read(), re.M)
    return {"MPI_" + name: [(word, [int(number) for number in numbers.split(",")])
                            for word, numbers in re.findall(r"(\w+)\(([\d, ]+)\)", row)] for name, row in rows}


def read_left_alone(path):
    """Patterns of C names in lower case; a reason stands above each group."""
    patterns = []
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                patterns += [word.lower() for word in line.split()]
    return re.compile("|".join(patterns))


def split_arguments(text):
    """The arguments of a declaration."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part.strip() for part in parts]
    return [] if parts in ([""], ["void"]) else parts


def read_header(compiler):
    """C procedures: their arguments."""
    text = output_of(compiler, "-E", "-P", "-x", "c", "-", text="#include <mpi.h>\n")
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    nested = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
    found = re.findall(r"\b(?:int|double)\s+(MPI_[A-Z]\w*)\s*\((" + nested + r")\)\s*;", text)
    return {name: split_arguments(" ".join(arguments.split())) for name, arguments in found}


def is_string(argument):
    return re.search(r"\bchar\b", argument) is not None


def fortran_count(name, arguments):
    """Arguments in Fortran: ierror, and a hidden length for each string or array of strings."""
    if name in FORTRAN_OWN:
        return FORTRAN_OWN[name]
    return len(arguments) + 1 + sum(map(is_string, arguments))


def tokens_of(path):
    with gzip.open(path, "rt") as file:
        file.readline()
        return re.findall(r"'(?:[^']|'')*'|[()]|[^\s()']+", file.read())


def parse(tokens):
    """Nested lists of a module's expressions."""
    stack = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    return stack[0]


def read_module(path):
    """Procedures of a module: the number of their arguments, with the lengths that gfortran adds."""
    symbols = next((part for part in reversed(parse(tokens_of(path)))
                    if isinstance(part, list) and len(part) > 5 and part[0].__class__ is str
                    and part[0].isdigit() and part[1].startswith("'")), [])
    is_character, procedures = set(), {}
    for i in range(0, len(symbols) - 5, 6):
        number, name, body = symbols[i], symbols[i + 1].strip("'"), symbols[i + 5]
        if not isinstance(body, list) or not body:
            continue
        attributes = body[0]
        if "DUMMY" in attributes and any(isinstance(part, list) and part[:1] == ["CHARACTER"]
                                         for part in body[1:]):
            is_character.add(number)
        if attributes[0] == "PROCEDURE" and "DUMMY" not in attributes and len(body) > 5:
            lists = [part for part in body[3:] if isinstance(part, list)]
            if lists and lists[0] and "IS_BIND_C" not in attributes:
                procedures[name] = lists[0]
    return {name: len(formals) + sum(formal in is_character for formal in formals)
            for name, formals in procedures.items()}


def read_modules(compiler):
    folders = [word[2:] for word in output_of(compiler, "-show").split() if word.startswith("-I")]
    procedures = {}
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "mpi*.mod")):
            for name, count in read_module(path).items():
                procedures.setdefault(name, set()).add(count)
    return procedures


def exported_by(path):
    """Names of the functions that a library exports."""
    lines = output_of("nm", "-D", "--defined-only", path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in "TWi"}


def read_exports(*compilers):
    """Names of functions in the libraries that a compiler of the MPI links."""
    names = set()
    for compiler in compilers:
        words = output_of(compiler, "-show").split()
        folders = [word[2:] for word in words if word.startswith("-L")]
        folders += [os.path.dirname(output_of(words[0], "-print-file-name=libc.so").strip()), "/usr/lib64", "/usr/lib"]
        for library in (word[2:] for word in words if word.startswith("-lmpi")):
            paths = [os.path.join(folder, f"lib{library}.so") for folder in folders]
            found = [path for path in paths if os.path.exists(path)]
            names |= exported_by(found[0]) if found else set()
    return names


def base_of(name):
    """The lower-case C name that an exported name stands for."""
    if name.startswith("MPI_"):
        return (name[:-2] if name.endswith("_c") else name).lower()
    suffix = next(suffix for suffix in SUFFIXES if name.endswith(suffix))
    return name[:len(name) - len(suffix)]


def compare_arguments(kept, header):
    """The arguments of mpi_arguments.def that have another name in the header."""
    for name, row in sorted(kept.items()):
        # the header's names end the declarations; a procedure that this MPI lacks has none
        names = [re.findall(r"\w+", argument)[-1] for argument in header.get(name, [])]
        for word, numbers in row if names else []:
            wanted = [NAMES[word]] + [TYPES] * (len(numbers) - 1)
            if (name, word) == ("MPI_Precv_init", "FROM"):  # as MPICH 4 calls it
                wanted[0] += ("dest",)
            found = [names[number - 1] if number <= len(names) else "?" for number in numbers]
            if any(one not in allowed for one, allowed in zip(found, wanted)) or \
                    (found[-1] in ("sendtype", "recvtype") and found[0][:4] != found[-1][:4]):
                yield f"{name}: {word} is {found}"
        if names and "comm" in names and "COMM" not in dict(row):
            yield f"{name}: its communicator is not kept"


def compare(table, left_alone, header, modules, exports, intercepted):
    """The differences, and how many procedures there were."""
    by_fortran = {"mpi_" + row[0]: (name, row) for name, row in table.items()}
    checked = 0
    for name, arguments in sorted(header.items()):
        base = name[:-2] if name.endswith("_c") and name not in table else name
        checked += 1
        if base not in table:
            if not left_alone.fullmatch(base.lower()):
                yield f"{name}: no row, and not on the list of those left alone"
            continue
        if left_alone.fullmatch(base.lower()):
            yield f"{name}: has a row, and is on the list of those left alone"
        fortran, of_c, of_fortran = table[base]
        if "MPI_" + fortran != base.upper()[:4] + base.lower()[4:]:
            yield f"{name}: its Fortran name is mpi_{fortran}"
        if of_c != len(arguments):
            yield f"{name}: {of_c} arguments in C, and the header has {len(arguments)}"
        if of_fortran != fortran_count(base, arguments):
            yield f"{name}: {of_fortran} arguments in Fortran, should be {fortran_count(base, arguments)}"
    for name, counts in sorted(modules.items()):
        base = base_of(name if name.endswith("_") else name + "_")
        if base in by_fortran:
            checked += 1
            wanted = by_fortran[base][1][2]
            allowed = {wanted - 1, wanted} if base in PERHAPS_ONE_FEWER else {wanted}
            if not counts <= allowed:
                yield f"{name}: {wanted} arguments in Fortran, and the module has {sorted(counts)}"
    for name in sorted(exports):
        if not re.match(r"(MPI|mpi)_", name) or re.match(r"MPI_[A-Z0-9_]+$", name) or BIND_C.fullmatch(name):
            continue
        checked += 1
        if base_of(name) not in by_fortran and not left_alone.fullmatch(base_of(name)):
            yield f"{name}: exported, no row, and not on the list of those left alone"
        if base_of(name) in by_fortran and name not in intercepted:
            yield f"{name}: its row does not intercept this form"
    yield checked


def main():
    table, left_alone = read_table(sys.argv[1]), read_left_alone(sys.argv[3])
    intercepted, compilers = exported_by(sys.argv[4]), sys.argv[5:]
    modules = read_modules(compilers[1]) if len(compilers) > 1 else {}
    names = read_exports(*compilers)
    if "MPI_Init" not in names:
        sys.exit("the library of this MPI is not where its compiler looks for it")
    header = read_header(compilers[0])
    *differences, checked = compare(table, left_alone, header, modules, names, intercepted)
    differences += compare_arguments(read_arguments(sys.argv[2]), header)
    for difference in differences:
        print(difference)
    print(f"{checked} names compared, {len(modules)} of them procedures of modules")
    sys.exit(1 if differences else 0)


main()

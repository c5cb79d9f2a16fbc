# SPDX-License-Identifier: BSD-3-Clause
"""Real programs for the benchmarks, as far as they are installed, and their inputs.

`tools/install-needed bench` installs them.
"""
import gzip
import os
import re
import shutil

EAM = """units metal
atom_style atomic
lattice fcc 3.615
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
pair_style eam
pair_coeff 1 1 /usr/share/lammps/potentials/Cu_u3.eam
velocity all create 1600.0 376847 loop geom
neighbor 1.0 bin
neigh_modify every 1 delay 5 check yes
fix 1 all nve
timestep 0.005
thermo 50
run 500
"""

SILICON = """&control
 calculation='scf', prefix='si', pseudo_dir='.', outdir='./out'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=90.0
/
&electrons
 conv_thr=1.0d-10
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 11 11 11 1 1 1
"""

PEPTIDE = "/usr/share/lammps/examples/peptide"
PSEUDOS = ("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz", "/usr/share/espresso/pseudo/Si.pz-vbc.UPF")
HPCC = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def lammps(root, folder):
    lmp = shutil.which("lmp")
    if not lmp:
        return
    yield "LAMMPS melt", "openmpi", [lmp, "-in", os.path.join(root, "tools", "melt.in"),
                                     "-log", "none", "-var", "steps", "2000"]
    if os.path.exists("/usr/share/lammps/potentials/Cu_u3.eam"):
        yield "LAMMPS EAM", "openmpi", [lmp, "-in", write(folder, "in.eam", EAM), "-log", "none"]
    if os.path.exists(PEPTIDE):
        with open(os.path.join(PEPTIDE, "in.peptide")) as file:
            text = file.read().replace("data.peptide", PEPTIDE + "/data.peptide\nreplicate 2 2 1")
        text = re.sub(r"run\s+\d+", "run 500", text)
        yield "LAMMPS peptide", "openmpi", [lmp, "-in", write(folder, "in.peptide", text),
                                            "-log", "none"]


def espresso(folder):
    pseudo = next(filter(os.path.exists, PSEUDOS), None)
    if not shutil.which("pw.x") or not pseudo:
        return
    with (gzip.open if pseudo.endswith(".gz") else open)(pseudo, "rt") as file:
        write(folder, "Si.pz-vbc.UPF", file.read())
    yield "Quantum ESPRESSO, silicon", "openmpi", ["pw.x", "-in",
                                                   write(folder, "si.in", SILICON)]


def hpcc(folder):
    if not shutil.which("hpcc") or not os.path.exists(HPCC):
        return
    with open(HPCC) as file:
        lines = file.read().splitlines()
    for i, line in enumerate(lines):
        if re.search(r"\bNs$", line):
            lines[i] = "3000 Ns"
        elif re.search(r"\bPs$", line):
            lines[i] = "1 Ps"
        elif re.search(r"\bQs$", line):
            lines[i] = "2 Qs"
    write(folder, "hpccinf.txt", "\n".join(lines) + "\n")
    yield "HPCC", "openmpi", ["hpcc"]


def programs(root, build, folder):
    """Returns (name, MPI, words) of each program, to be run in `folder`."""
    yield from lammps(root, folder)
    yield from espresso(folder)
    if os.path.exists("/usr/lib/python3/dist-packages/mpi4py"):
        yield "mpi4py Jacobi", "openmpi", [
            "/usr/bin/python3", os.path.join(root, "tests", "programs", "jacobi.py"), "8000"]
    for mpi in ("openmpi", "mpich"):
        solver = os.path.join(build, "tests", "programs", "solver_mpi." + mpi)
        if os.path.exists(solver) and shutil.which("mpirun." + mpi):
            yield f"Fortran solver, {mpi}", mpi, [solver, "24000"]
    yield from hpcc(folder)
    for mpi, program in (("openmpi", "NPopenmpi"), ("mpich", "NPmpich2")):
        if shutil.which(program) and shutil.which("mpirun." + mpi):
            yield f"NetPIPE, {mpi}", mpi, [program, "-n", "6000", "-u", "65536", "-o", "netpipe.out"]

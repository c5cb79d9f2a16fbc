# SPDX-License-Identifier: BSD-3-Clause
"""Compares replays and simulations with the runs that were recorded: `run replay`.

docs/replay.md and docs/whatif.md explain both, and docs/measurements/whatif.md has the figures of one machine.
"""
import json
import os
import shutil
import statistics
import subprocess

RANKS = 2               # times need a processor for each rank
WORK_US = 500           # of each burst of the shapes, as long as those of the benchmarks that have these shapes
SHAPES = {"multi_partition": 400, "wavefront": 1500, "conjugate_gradient": 150, "v_cycle": 150, "integer_sort": 1000,
          "solver": 600}
MEDIAN, WORST = 0.98, 0.95          # least accuracies of a replay, in the median of the programs and of the worst one
MEAN_OFF, MOST_OFF = 0.03, 0.08     # most that simulations of the unchanged run are off


def answer(words, folder, env):
    """Returns the JSON that a command prints, or the line in which it says why it has none."""
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
    return json.loads(done.stdout)


class Bench:
    """What the measurements need of tests/bench/run.

    run: starts a command in a folder with settings; environment: what a command sees; mpirun: gives the words that
    start an MPI's program.
    """

    def __init__(self, build, run, environment, mpirun, folder):
        self.run, self.environment, self.mpirun, self.folder = run, environment, mpirun, folder
        self.phasemux = os.path.join(build, "phasemux")
        self.library = os.path.join(build, "libphasemux.so")
        self.programs = os.path.join(build, "tests", "programs")

    def shapes(self, mpi):
        for name, steps in SHAPES.items():
            yield name, mpi, [os.path.join(self.programs, f"shapes.{mpi}"), name, str(steps)]

    def once(self, mpi, words):
        """Records a run, makes it again and simulates it. Returns the figures, or why there are none."""
        output = os.path.join(self.folder, "replay.recorded")
        shutil.rmtree(output, ignore_errors=True)
        self.run(self.mpirun(mpi, RANKS) + words, self.folder, LD_PRELOAD=self.library, PHASEMUX_TRACE="calls",
                 PHASEMUX_BUDGET="none", PHASEMUX_OUTPUT=output, SHAPES_WORK_US=str(WORK_US))
        env, launcher = self.environment(), self.mpirun(mpi, RANKS)
        replay = answer([self.phasemux, "replay", "--json", output, "--"] + launcher, self.folder, env)
        if isinstance(replay, str):
            return replay
        subprocess.run([self.phasemux, "whatif", "--calibrate", output, "--"] + launcher, cwd=self.folder, env=env,
                       capture_output=True, check=True)
        simulation = answer([self.phasemux, "whatif", "--simulate", "--json", "--cpu", "1", output], self.folder, env)
        if isinstance(simulation, str):
            return simulation
        recorded = replay["recorded_seconds"]
        return {"calls": replay["calls"], "made": replay["made"], "recorded_seconds": recorded,
                "agent_seconds": replay["recorded_agent_seconds"] / RANKS, "replayed_seconds": replay["replayed_seconds"],
                "accuracy": replay["accuracy"], "deprived_share": replay["deprived_share"],
                "simulated_seconds": simulation["simulated_seconds"]["mean"],
                "off": simulation["simulated_seconds"]["mean"] / recorded - 1}


def middle(runs, key):
    return statistics.median(run[key] for run in runs)


def measure(bench, packaged, often):
    """packaged: (name, MPI, words) of further programs. Each is recorded `often` times. Returns the figures."""
    rows, failed = {}, {}
    for name, mpi, words in packaged:
        runs = [bench.once(mpi, words) for _ in range(often)]
        refused = [run for run in runs if isinstance(run, str)]
        if refused:
            failed[name] = refused[0]
            print(f"    {name:<26} not replayed: {refused[0]}", flush=True)
            continue
        rows[name] = {"accuracy": middle(runs, "accuracy"), "off": middle(runs, "off"), "runs": runs}
        print(f"    {name:<26} {runs[0]['calls']:>8,.0f} calls, {middle(runs, 'recorded_seconds'):6.3f} s recorded, of it "
              f"phasemux {middle(runs, 'agent_seconds'):5.3f}; replayed {middle(runs, 'replayed_seconds'):6.3f} s, "
              f"accuracy {rows[name]['accuracy']:6.1%}; simulated {middle(runs, 'simulated_seconds'):6.3f} s, "
              f"{rows[name]['off']:+.1%}; without a processor {max(run['deprived_share'] for run in runs):.1%}", flush=True)
    accuracies, off = [row["accuracy"] for row in rows.values()], [abs(row["off"]) for row in rows.values()]
    found = {"median_accuracy": statistics.median(accuracies), "worst_accuracy": min(accuracies),
             "mean_off": statistics.mean(off), "most_off": max(off)}
    holds = {"replay": found["median_accuracy"] >= MEDIAN and found["worst_accuracy"] >= WORST and not failed,
             "simulation": found["mean_off"] < MEAN_OFF and found["most_off"] < MOST_OFF and not failed}
    print(f"    replay: {'holds' if holds['replay'] else 'DOES NOT HOLD'}: accuracy {found['median_accuracy']:.1%} in the "
          f"median, {found['worst_accuracy']:.1%} at worst (at least {MEDIAN:.0%} and {WORST:.0%})")
    print(f"    simulation: {'holds' if holds['simulation'] else 'DOES NOT HOLD'}: off by {found['mean_off']:.1%} in the mean, "
          f"{found['most_off']:.1%} at worst (less than {MEAN_OFF:.0%} and {MOST_OFF:.0%})")
    return {**found, "holds": holds, "programs": rows, "failed": failed}

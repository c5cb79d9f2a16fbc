# SPDX-License-Identifier: BSD-3-Clause
"""Compares a clustering with that of another tool on the same bursts, and prints what it found.

usage: beside_reference.py PHASEMUX DBSCAN_DIR REFINED_DIR THEIR_DBSCAN THEIR_REFINEMENT

DBSCAN with the same parameters must give the same partition (adjusted Rand index 1, or 0.99 because of border
points). The refinement must have no more clusters than that of the other tool. It must score at least as high as
the better of the other tool's two, all scored by the same code. It must be as tight (time-weighted variance of the
two metrics) as the other DBSCAN over all bursts, and hardly wider on bursts that the other one clusters. The spread
without the noise of each is printed but not checked, because it compares different bursts.
"""
import collections
import csv
import math
import subprocess
import sys
import tempfile

FIELDS = ("task", "thread", "begin_ns", "end_ns")


def key(row):
    return tuple(int(row[name]) for name in FIELDS)


def ours(folder):
    with open(folder + "/bursts.csv") as file:
        return {key(row): row for row in csv.DictReader(file)}


def theirs(path):
    with open(path) as file:
        rows = [line.split(",") for line in file if line[0] != "#"]
    # clusters are numbered from 6 on, and 5 is noise
    return {tuple(map(int, row[1:5])): max(int(row[-1]) - 5, 0) for row in rows}


def rand_index(a, b):
    def pairs(counter):
        return sum(n * (n - 1) / 2 for n in counter.values())
    both = pairs(collections.Counter(zip(a, b)))
    one, other = pairs(collections.Counter(a)), pairs(collections.Counter(b))
    chance = one * other / (len(a) * (len(a) - 1) / 2)
    return (both - chance) / ((one + other) / 2 - chance)


def spread(labels, points, times):
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0, 0.0, 0.0])
    for label, (x, y), time in zip(labels, points, times):
        for i, value in enumerate((time, time * x, time * y, time * x * x, time * y * y)):
            sums[label][i] += value
    inner = sum(xx - x * x / t + yy - y * y / t for t, x, y, xx, yy in sums.values())
    return inner / sum(s[0] for s in sums.values())


def score(phasemux, rows, labels):
    """Returns the global score by phasemux of another tool's labels."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/given.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(list(FIELDS) + ["instructions", "ipc", "cluster"])
            for k in sorted(rows):
                out.writerow(list(k) + [rows[k]["PAPI_TOT_INS"], rows[k]["ipc"], labels[k]])
        subprocess.run([phasemux, "cluster", "--quiet", "--algorithm", "given", "--burst-min", "0",
                        "--output", folder + "/out", folder + "/given.csv"], check=True)
        with open(folder + "/out/scores.csv") as file:
            return float([row for row in csv.DictReader(file)][-1]["score"])


def main():
    phasemux = sys.argv[1]
    dbscan, refined = ours(sys.argv[2]), ours(sys.argv[3])
    their_dbscan, their_refinement = theirs(sys.argv[4]), theirs(sys.argv[5])
    keys = sorted(their_dbscan)
    if sorted(dbscan) != keys or sorted(refined) != keys:
        sys.exit("not the same bursts")
    ours_d, ours_r = ([int(rows[k]["cluster"]) for k in keys] for rows in (dbscan, refined))
    theirs_d = [their_dbscan[k] for k in keys]
    index = rand_index(ours_d, theirs_d)
    fewer = max(ours_r) <= max(their_refinement.values())

    logs = [math.log(float(refined[k]["PAPI_TOT_INS"])) for k in keys]
    ipcs = [float(refined[k]["ipc"]) for k in keys]
    points = [((a - min(logs)) / (max(logs) - min(logs)), (b - min(ipcs)) / (max(ipcs) - min(ipcs)))
              for a, b in zip(logs, ipcs)]
    times = [k[3] - k[2] for k in keys]
    everywhere, clustered = range(len(keys)), [i for i, c in enumerate(theirs_d) if c]
    tight = [[spread([labels[i] for i in where], [points[i] for i in where],
                     [times[i] for i in where]) for labels in (ours_r, theirs_d)]
             for where in (everywhere, clustered)]
    own = [spread([labels[i] for i in everywhere if labels[i]],
                  [points[i] for i in everywhere if labels[i]],
                  [times[i] for i in everywhere if labels[i]]) for labels in (ours_r, theirs_d)]
    noise = [sum(time for label, time in zip(labels, times) if not label) / sum(times)
             for labels in (ours_r, theirs_d)]
    scores = [score(phasemux, refined, labels) for labels in (
        {k: int(refined[k]["cluster"]) for k in keys}, their_dbscan, their_refinement)]
    print("adjusted Rand index of DBSCAN %.6f; clusters %d, theirs %d" %
          (index, max(ours_r), max(their_refinement.values())))
    print("score %.5f, theirs %.5f (DBSCAN) and %.5f (refinement)" % tuple(scores))
    print("spread over all bursts %.3g, theirs %.3g; over those that theirs clusters %.3g, %.3g" %
          (*tight[0], *tight[1]))
    print("noise %.2f%% of the time, theirs %.2f%%; spread without noise %.3g, theirs %.3g" %
          (100 * noise[0], 100 * noise[1], *own))
    if index < 0.99 or not fewer or scores[0] < max(scores) or tight[0][0] > tight[0][1] or \
            tight[1][0] > 1.35 * tight[1][1]:
        sys.exit(1)


if __name__ == "__main__":
    main()

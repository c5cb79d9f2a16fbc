#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time of the clustering with that of scikit-learn's DBSCAN (Debian: python3-sklearn).

usage: cluster.py PROGRAM [COUNT...]      PROGRAM: build/tests/bench/cluster

Both cluster the same points on one core. Prints processor times as JSON, which `tests/bench/run clusters` shows.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"


def ours(bench, *arguments):
    return subprocess.run([bench, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout.split()


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    bench = arguments[0]
    counts = [int(a) for a in arguments[1:]] or [1000, 10000, 53454, 100000, 1000000]
    try:
        import numpy
        from sklearn.cluster import DBSCAN
        from sklearn.metrics import adjusted_rand_score
    except ImportError:
        json.dump({"skipped": "no python3-sklearn"}, sys.stdout)
        return
    results = {"dbscan": []}
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "points")
            ours(bench, "points", count, path)
            data = numpy.fromfile(path)
            points, eps = data[:-1].reshape(-1, 2), data[-1]
            mine = float(ours(bench, "dbscan", path, 3)[0])
            labels = numpy.fromfile(path + ".labels", dtype=numpy.uint32)
            start = time.process_time()
            peer = DBSCAN(eps=eps, min_samples=10).fit(points)
            theirs = time.process_time() - start
        results["dbscan"].append({
            "points": count, "seconds": mine, "peer_seconds": theirs, "ratio": theirs / mine,
            "ns_per_n_log_n": 1e9 * mine / (count * math.log2(count)),
            "adjusted_rand_index": adjusted_rand_score(labels, peer.labels_)})
    refined = ours(bench, "refine", 256, 400)
    results["refinement"] = {"tasks": 256, "bursts": 400, "seconds": float(refined[0]),
                             "score_seconds": float(refined[1])}
    results["nearest_ns"] = float(ours(bench, "nearest")[0])
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()

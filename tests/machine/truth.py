#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the phases of a report with the true instructions of the work that they are.

usage: truth.py REPORT NAME=INSTRUCTIONS...

The true count and that of a burst differ by what is around the work: a call, a search for a symbol, and a half of
each read. It is at most OVERHEAD instructions. An interrupt adds a little (INTERRUPTS), because QEMU counts the
instruction at which it arrives again.
"""
import json
import sys

OVERHEAD = 2000  # instructions
CPI = 2  # of every instruction on this machine
INTERRUPTS = 0.001  # share of a burst's instructions


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    wrong = 0
    for wanted in sys.argv[2:]:
        name, truth = wanted.split("=")
        truth = int(truth)
        phase = min(report["phases"], key=lambda p: abs(p["counters"]["INST_RETIRED"]["mean"] - truth))
        mean = phase["counters"]["INST_RETIRED"]["mean"]
        right = abs(mean - truth) <= OVERHEAD + INTERRUPTS * truth and abs(phase["cpi"] - CPI) < 0.004
        wrong += not right
        deviation = phase["counters"]["INST_RETIRED"]["sd"]
        print(f"{name}: {mean:.1f} instructions (sd {deviation:.0f}), truth {truth}; CPI {phase['cpi']:.5f}"
              f"{'' if right else ' WRONG'}")
    if report["model"] != "neoverse-n1":
        print("model", report["model"])
        wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

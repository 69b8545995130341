#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of three kernels under callgrind and compares them with a table.

usage: run.py --driver build/release/bin/berth_counts --table tests/counts/counts.json
              --compiler "GNU 12.2.0" [--update]      (scripts/counts_update passes --update)

Exit 0: within 5 %; 1: more, or less by as much (then refresh the table: a gain to be kept);
77: skipped, without valgrind or with another compiler or other vectors than the table's.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

KERNELS = ["dual", "columns", "bound"]
TOLERANCE = 0.05


def vectors():
    """Some kernels are compiled twice; the processor decides which runs."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return "avx2" if "avx2" in flags else "none"


def instructions(driver, kernel):
    """Instructions executed inside the kernel's counted_* function."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--toggle-collect=counted_{kernel}",
         "--callgrind-out-file=/dev/null", driver, kernel],
        capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found or int(found[1]) == 0:
        sys.exit(f"{kernel}: nothing counted\n{run.stdout}{run.stderr}")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--table", required=True, type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    build = f"{arguments.compiler}, vectors {vectors()}"
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    table = json.loads(arguments.table.read_text()) if arguments.table.exists() else {}
    if not arguments.update and table.get("build") != build:
        print(f"skipped: counted with {table.get('build')}, this is {build}")
        return 77
    counts = {kernel: instructions(arguments.driver, kernel) for kernel in KERNELS}
    failed = False
    for kernel, count in counts.items():
        known = table.get("instructions", {}).get(kernel)
        change = (count - known) / known if known else float("nan")
        print(f"{kernel:6} {count:>13,} instructions, {100 * change:+.2f} % of {known}")
        failed = failed or not abs(change) <= TOLERANCE
    if arguments.update:
        text = json.dumps({"build": build, "instructions": counts}, indent=2)
        arguments.table.write_text(text + "\n")
        return 0
    if failed:
        print("more than 5 % apart: explain it in the commit, then scripts/counts_update")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

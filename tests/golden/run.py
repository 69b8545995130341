#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans one case of jobs/small with the real program and compares the outcome.

A case is a folder with cluster.yaml, jobs.jsonl and expected.json, and a file `digest` with the
plan's digest once scripts/golden_update has written it. expected.json, all keys optional:
  arguments   more arguments of `berth plan`
  exit        its exit code (0)
  objective   [least, most], met to 1e-9
  gap_at_most a fraction
  placed      the jobs in the plan, any order
  machines    {job: [machines of its tasks, sorted, repeated]}
  waiting     {job: regular expression its reason must contain}
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys


def run(command, expected_exit):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != expected_exit:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}, expected {expected_exit}\n"
                 f"{done.stdout}{done.stderr}")


def faults(plan, expected):
    least, most = expected.get("objective", [float("-inf"), float("inf")])
    if not least - 1e-9 <= plan["objective"] <= most + 1e-9:
        yield f"objective {plan['objective']}, expected {least} .. {most}"
    if plan["upper_bound"] < plan["objective"]:
        yield f"bound {plan['upper_bound']} below objective {plan['objective']}"
    if plan["gap"] > expected.get("gap_at_most", float("inf")):
        yield f"gap {plan['gap']}, expected at most {expected['gap_at_most']}"
    machines = {p["job"]: sorted(t["machine"] for t in p["tasks"]) for p in plan["placements"]}
    if "placed" in expected and sorted(machines) != sorted(expected["placed"]):
        yield f"placed {sorted(machines)}, expected {sorted(expected['placed'])}"
    for job, names in expected.get("machines", {}).items():
        if machines.get(job) != names:
            yield f"{job} lies on {machines.get(job)}, expected {names}"
    reasons = {w["job"]: w["reason"] for w in plan["waiting"]}
    for job, pattern in expected.get("waiting", {}).items():
        if not re.search(pattern, reasons.get(job, "")):
            yield f"{job} waits with reason {reasons.get(job)!r}, expected /{pattern}/"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth", required=True)
    parser.add_argument("--case", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--ranks", default="1")
    parser.add_argument("--mpiexec", help="without it: one rank, no launcher")
    parser.add_argument("--update", action="store_true", help="write the digest")
    options = parser.parse_args()

    expected = json.loads((options.case / "expected.json").read_text())
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out / f"{options.case.name}-np{options.ranks}.json"
    out.unlink(missing_ok=True)
    files = ["--cluster", str(options.case / "cluster.yaml"),
             "--jobs", str(options.case / "jobs.jsonl")]
    launcher = [options.mpiexec, "-n", options.ranks] if options.mpiexec else []
    run([*launcher, options.berth, "plan", *files, *expected.get("arguments", []),
         "--out", str(out)], expected.get("exit", 0))
    run([options.berth, "check", *files, "--plan", str(out)], 0)

    plan = json.loads(out.read_text())
    found = list(faults(plan, expected))
    digest = options.case / "digest"
    if options.update and not found:
        digest.write_text(plan["plan_digest"] + "\n")
    elif digest.exists() and digest.read_text().strip() != plan["plan_digest"]:
        found.append(f"plan digest {plan['plan_digest']}, expected {digest.read_text().strip()}\n"
                     "  (if the change is meant: scripts/golden_update)")
    if found:
        sys.exit(f"{options.case.name}:\n  " + "\n  ".join(found))


main()

# SPDX-License-Identifier: Apache-2.0
"""Makes one instance, plans it, has the plan checked, and gives the figures as a dictionary."""
import json
import os
import resource
import subprocess
import time

from bounds import knapsack_bound
from classes import SCENARIOS
from instance import Draw

WRITTEN = {0, 3, 5}  # exit codes with a plan (README)


def make(name, gpus, seed, work, seconds=None):
    """Writes the instance; its folder, its optimum or None, and a bound made without Berth.

    With `seconds` every job takes so long: in a horizon of this length it is the same instance.
    """
    instance = SCENARIOS[name](gpus, Draw(f"{name} {gpus} {seed}"))
    if seconds:
        instance.jobs = [job | {"duration": seconds} for job in instance.jobs]
    folder = work / f"{name}-{gpus}-{seed}"
    instance.write(folder)
    bound = knapsack_bound(instance) if instance.optimum is None else instance.optimum
    return folder, instance.optimum is not None, bound


def flags_of(mode):
    """default: none; s4: --shards 4."""
    if mode == "default":
        return []
    if mode[0] == "s" and mode[1:].isdigit():
        return ["--shards", mode[1:]]
    raise ValueError(f"mode {mode}: default, or s and a number of shards")


def timed(command):
    """(result, CPU seconds, wall seconds) with one thread."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | threads)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, cpu, time.monotonic() - start


def gap(objective, bound):
    """As in plan.json: a fraction of the bound."""
    return (bound - objective) / max(abs(bound), 1e-12)


def contradiction(plan, exact, bound):
    """What the plan claims against a bound made without Berth; empty when both can be true."""
    slack = 1e-6 * max(1.0, bound)  # values are written with six digits
    if plan["objective"] > bound + slack:
        return f"objective {plan['objective']} above {bound}, which no plan exceeds"
    if exact and plan["upper_bound"] < bound - slack:
        return f"upper bound {plan['upper_bound']} below the optimum {bound}"
    return ""


def measure(berth, instance, mode, flags=()):
    """One plan of an instance as make() gives it. Gaps are fractions, times seconds."""
    folder, exact, bound = instance
    files = ["--cluster", str(folder / "cluster.yaml"), "--jobs", str(folder / "jobs.jsonl")]
    out = folder / "plan.json"
    out.unlink(missing_ok=True)
    command = [*berth, "plan", *files, "--threads", "1", "--quiet", *flags_of(mode), *flags]
    done, cpu, wall = timed([*command, "--out", str(out)])
    row = {"exit": done.returncode, "cpu_seconds": round(cpu, 2), "wall_seconds": round(wall, 2)}
    if done.returncode not in WRITTEN or not out.exists():
        return row | {"valid": False, "message": done.stderr.strip()[-500:]}
    plan = json.loads(out.read_text())
    judged, check_cpu, _ = timed([berth[-1], "check", *files, "--plan", str(out)])
    fault = judged.stdout.strip()[-500:] if judged.returncode else contradiction(plan, exact, bound)
    return row | {
        "valid": not fault,
        "message": fault,
        "gap": plan["gap"],
        "true_gap": gap(plan["objective"], bound),
        "exact": exact,
        "objective": plan["objective"],
        "upper_bound": plan["upper_bound"],
        "independent_bound": bound,
        "missing": len(plan["required_missing"]),
        "jobs_placed": plan["jobs_placed"] if "jobs_placed" in plan else len(plan["placements"]),
        "jobs": plan["jobs_total"],
        "gpus_placed": plan.get("gpu_milli_allocated", 0) / max(1, plan.get("gpu_milli_total", 1)),
        "shards": plan.get("stats", {}).get("shards", 1),
        "check_cpu_seconds": round(check_cpu, 2),
        "plan_digest": plan["plan_digest"],
        "proof_digest": plan["proof_digest"],
    }

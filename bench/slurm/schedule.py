#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets Slurm's own scheduler plan a queue: simulated nodes, but the real slurmctld.

usage: bench/slurm/schedule.py --out DIR [--jobs 10000] [--nodes 4096] [--seed 1] [--flat]

4,096 nodes of 8 GPUs, 16 under a leaf switch, 32 leaves under a spine. Jobs of 1 to 64 GPUs ask for
whole nodes above 8; Slurm's priority of a job is the value of one of its GPUs. Saves the queue
before anything started (nodes.json, jobs.json, partitions.txt, config.txt, topology.conf) and then
lets Slurm start what it can: started.json.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "slurm" / "testbed"))
from testbed import Testbed, cloud_nodes, missing, tree  # noqa: E402

GPUS, LEAF = 8, 16
MIX = {1: 45, 2: 15, 4: 15, 8: 15, 16: 5, 32: 3, 64: 2}  # percent of the jobs by GPUs
HOURS = [1, 2, 4, 8, 12, 24]
# Limits of one scheduling pass, as high as this Slurm accepts.
SCHEDULER = ("SchedulerParameters=default_queue_depth=100000,sched_interval=2,max_sched_time=49,"
             "sched_min_interval=1000000,defer,bf_continue,bf_max_job_test=100000,bf_interval=5,"
             "bf_max_time=600,bf_window=1440,bf_resolution=600")


def draw_jobs(count, seed):
    """(GPUs, priority, hours) by job: the mix in exact proportions, shuffled."""
    draw = random.Random(seed)
    sizes = [gpus for gpus, percent in MIX.items() for _ in range(count * percent // 100)]
    sizes += [1] * (count - len(sizes))
    draw.shuffle(sizes)
    return [(gpus, 1000 * min(100, max(1, round(draw.lognormvariate(2.3, 0.8)))),
             draw.choice(HOURS)) for gpus in sizes]


def submit(slurm, job):
    gpus, priority, hours = job
    shape = ["--nodes=1", f"--gres=gpu:{gpus}"] if gpus <= GPUS else \
        [f"--nodes={gpus // GPUS}", f"--gres=gpu:{GPUS}", "--ntasks-per-node=1"]
    return slurm.output("sbatch", "--parsable", "--output=/dev/null", f"--priority={priority}",
                        f"--time={60 * hours}", *shape, "--wrap", "true")


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def save_queue(slurm, out):
    (out / "nodes.json").write_text(slurm.output("sinfo", "--all", "--json"))
    (out / "jobs.json").write_text(slurm.output("squeue", "--all", "--json"))
    (out / "config.txt").write_text(slurm.output("scontrol", "show", "config"))
    partitions = slurm.output("scontrol", "--all", "-o", "show", "partition")
    (out / "partitions.txt").write_text(partitions.replace("State=DOWN", "State=UP"))


def started(slurm):
    """Nodes of each started job; the state stays CONFIGURING because the nodes never boot."""
    lines = slurm.output("squeue", "-h", "-t", "CF,R", "-o", "%A %R", timeout=600).splitlines()
    return dict(line.split() for line in lines)


def let_run(slurm, quiet):
    """Opens the partition and waits until nothing has started for `quiet` seconds."""
    daemon = next(running.pid for name, running in slurm.daemons if name == "slurmctld")
    cpu_before, began = cpu_seconds(daemon), time.monotonic()
    slurm.run("scontrol", "update", "PartitionName=gpu", "State=UP")
    curve = [(0.0, 0, 0.0)]  # seconds, jobs started, CPU seconds of slurmctld
    last_change = last_told = began
    while time.monotonic() - last_change < quiet:
        time.sleep(2)
        told = slurm.output("sdiag", timeout=600)  # squeue would delay the scheduler
        count = int(re.search(r"Jobs started:\s+(\d+)", told).group(1))
        now = time.monotonic()
        if count != curve[-1][1]:
            curve.append((now - began, count, cpu_seconds(daemon) - cpu_before))
            last_change = now
            if now - last_told > 30:
                print(f"{now - began:7.1f} s  {count} jobs started", flush=True)
                last_told = now
    return curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--nodes", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flat", action="store_true", help="tell Slurm nothing of the switches")
    parser.add_argument("--quiet", type=float, default=180, help="seconds without a start: done")
    asked = parser.parse_args()
    if missing():
        sys.exit(missing())
    asked.out.mkdir(parents=True, exist_ok=True)
    width = len(str(asked.nodes - 1))
    names = f"c[{0:0{width}d}-{asked.nodes - 1:0{width}d}]"
    topology = tree("c", asked.nodes, width, LEAF)
    (asked.out / "topology.conf").write_text(topology)
    with Testbed([cloud_nodes(names, gpus=GPUS)],
                 [f"PartitionName=gpu Nodes={names} Default=YES MaxTime=INFINITE State=DOWN"],
                 "" if asked.flat else topology,
                 [SCHEDULER, "MaxJobCount=100000", "MessageTimeout=100"]) as slurm:
        jobs = draw_jobs(asked.jobs, asked.seed)
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda job: submit(slurm, job), jobs))
        print(f"{asked.jobs} jobs submitted in {time.monotonic() - began:.0f} s", flush=True)
        save_queue(slurm, asked.out)
        curve = let_run(slurm, asked.quiet)
        seconds, count, cpu = curve[-1]
        (asked.out / "started.json").write_text(json.dumps(
            {"seconds": seconds, "cpu_seconds": cpu, "started": count, "curve": curve,
             "tree": not asked.flat, "scheduler": SCHEDULER, "jobs": started(slurm)}))


if __name__ == "__main__":
    main()

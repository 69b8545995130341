#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slurm's choice against Berth's plan of the same queue, both judged by the same code.

usage: bench/slurm/compare.py DIR [--berth build/release/bin/berth] [--ranks 1] [--runs 5]

DIR is the output folder of bench/slurm/schedule.py. Berth imports the saved queue, plans it and
checks the plan. Value of a job = its GPUs x priority / largest priority x 1 under one leaf switch,
0.95 under one spine, 0.9 elsewhere.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import time
from statistics import median

SPREAD = {1: 1.0, 2: 0.95, 3: 0.9}  # by the level of the switch that holds the job


def expand(hosts):
    """c[000-002,007] -> its four names; several such parts are separated by commas."""
    for stem, inside in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", hosts):
        for part in (inside or "").split(","):
            first, _, last = part.partition("-")
            for number in range(int(first), int(last or first) + 1) if first else [None]:
                yield stem if number is None else f"{stem}{number:0{len(first)}d}"


def read_switches(text):
    """(leaf, spine) by node."""
    nodes, above = {}, {}
    for line in text.splitlines():
        words = dict(word.split("=", 1) for word in line.split())
        for node in expand(words.get("Nodes", "")):
            nodes[node] = words["SwitchName"]
        if words["SwitchName"] != "core":
            for switch in expand(words.get("Switches", "")):
                above[switch] = words["SwitchName"]
    return {node: (leaf, above[leaf]) for node, leaf in nodes.items()}


def read_jobs(path):
    """(GPUs, priority) by job."""
    jobs = {}
    for job in json.loads(path.read_text())["jobs"]:
        per_node = int(re.search(r"gpu:(\d+)", job["tres_per_node"]).group(1))
        jobs[str(job["job_id"])] = (per_node * job["node_count"], job["priority"])
    return jobs


def judge(placed, jobs, switches):
    """Figures of one plan; `placed`: nodes by job."""
    largest = max(priority for _, priority in jobs.values())
    figures = dict.fromkeys(["started", "GPUs", "GPUs x priority", "value with spread",
                             "multi-node jobs", "over several leaves", "over several spines",
                             "leaf switches of multi-node jobs"], 0)
    for job, nodes in placed.items():
        gpus, priority = jobs[job]
        leaves = {switches[node][0] for node in nodes}
        spines = {switches[node][1] for node in nodes}
        level = 1 if len(leaves) == 1 else 2 if len(spines) == 1 else 3
        figures["started"] += 1
        figures["GPUs"] += gpus
        figures["GPUs x priority"] += gpus * priority / largest
        figures["value with spread"] += gpus * priority / largest * SPREAD[level]
        if len(set(nodes)) > 1:
            figures["multi-node jobs"] += 1
            figures["over several leaves"] += level > 1
            figures["over several spines"] += level > 2
            figures["leaf switches of multi-node jobs"] += len(leaves)
    return figures


def timed(*command):
    """Runs a command; returns seconds of wall time and of CPU, and its output."""
    began, cpu_before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    seconds, cpu = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = cpu.ru_utime + cpu.ru_stime - cpu_before.ru_utime - cpu_before.ru_stime
    return (seconds, used), done.stdout


def plan(folder, berth, launcher):
    """Imports, plans and checks; returns nodes by job and the times of the steps."""
    files = ["--cluster", folder / "cluster.yaml", "--jobs", folder / "jobs.jsonl"]
    imported, _ = timed(berth, "import", "slurm", "--nodes", folder / "nodes.json",
                        "--jobs", folder / "jobs.json", "--partitions", folder / "partitions.txt",
                        "--config", folder / "config.txt", "--topology", folder / "topology.conf",
                        "--weigh-priority", "--spread", f"{SPREAD[2]},{SPREAD[3]}",
                        "--out-cluster", folder / "cluster.yaml",
                        "--out-jobs", folder / "jobs.jsonl")
    planned, _ = timed(*launcher, berth, "plan", *files, "--out", folder / "plan.json")
    _, verdict = timed(berth, "check", *files, "--plan", folder / "plan.json")
    assert "plan is VALID" in verdict, verdict
    made = json.loads((folder / "plan.json").read_text())
    placed = {placement["job"]: [task["machine"] for task in placement["tasks"]]
              for placement in made["placements"]}
    return placed, made, {"import": imported, "plan, whole command": planned}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--berth", default="build/release/bin/berth")
    parser.add_argument("--mpiexec", default="mpiexec.mpich")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5, help="of Berth; the median counts")
    asked = parser.parse_args()
    jobs = read_jobs(asked.folder / "jobs.json")
    switches = read_switches((asked.folder / "topology.conf").read_text())
    launcher = [asked.mpiexec, "-n", asked.ranks] if asked.ranks > 1 else []
    runs = [plan(asked.folder, asked.berth, launcher) for _ in range(asked.runs)]
    placed, made, _ = runs[0]
    rows = {"Berth": judge(placed, jobs, switches)}
    slurm = asked.folder / "started.json"
    if slurm.exists():
        told = json.loads(slurm.read_text())
        rows["Slurm"] = judge({job: list(expand(nodes)) for job, nodes in told["jobs"].items()},
                              jobs, switches)
        print(f"Slurm: {told['seconds']:.1f} s until the last start, {told['cpu_seconds']:.1f} s "
              f"of slurmctld's CPU, topology {'tree' if told['tree'] else 'unknown to it'}")
    for what in runs[0][2]:
        seconds, cpu = (median(run[2][what][i] for run in runs) for i in range(2))
        print(f"Berth, {what}: {seconds:.2f} s, {cpu:.2f} s of CPU")
    stages = {stage: median(run[1]["seconds"][stage] for run in runs) for stage in made["seconds"]}
    print("Berth, stages:", ", ".join(f"{stage} {took:.3f}" for stage, took in stages.items()))
    print(f"Berth, certified: objective {made['objective']:.1f}, bound {made['upper_bound']:.1f}, "
          f"gap {100 * made['gap']:.4f} %")
    for figure in rows["Berth"]:
        print(f"{figure:34}", *(f"{who} {row[figure]:12.1f}" for who, row in rows.items()))


if __name__ == "__main__":
    main()

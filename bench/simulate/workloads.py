# SPDX-License-Identifier: Apache-2.0
"""Workloads of the table of policies: jobs as rows, a cluster that they load to a given share, and
both as Berth's files. Seeded; stdlib only."""
import collections
import csv
import datetime
import gzip
import json
import os
import pathlib
import random
import subprocess
import tempfile

# Times in seconds; deadline: after the arrival, or None.
Row = collections.namedtuple("Row", "at seconds gpus queue deadline", defaults=[None])

DAY = 86400
LONGEST = 3 * DAY   # durations of traces are cut here
MACHINE = 8         # GPUs
SLOW_SHARE = 0.25   # of the machines of two types


def traces():
    folder = os.environ.get("BERTH_TRACES")
    if not folder:
        raise SystemExit("set BERTH_TRACES to the folder of the traces")
    return pathlib.Path(folder)


def philly(first, count):
    """A window of Philly in order of submission: rows first .. first + count - 1."""
    rows = []
    with gzip.open(traces() / "philly/philly.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if not row.get("duration"):
                continue
            at = datetime.datetime.fromisoformat(row["timestamp"]).timestamp()
            rows.append(Row(at, max(1, min(LONGEST, round(float(row["duration"])))),
                            int(row["num_gpus"]), row["cluster"]))
    rows.sort(key=lambda row: row.at)
    return shifted(rows[first:first + count])


def kalos(seed, copies=4):
    """Kalos several times over: arrivals apart by days drawn, durations x 0.5 .. 2, gangs of up to
    1,024 GPUs."""
    draw = random.Random(f"kalos {seed}")
    rows = []
    with open(traces() / "acme/converted_kalos_trace.csv", encoding="utf-8") as file:
        base = [(float(row["arrival_time"]), 0.5 * float(row["num_iteration"]),
                 int(row["gpu_workers"]) * int(float(row["gpu_per_worker"])))
                for row in csv.DictReader(file)]
    for _ in range(copies):
        offset = draw.uniform(0, 10) * DAY
        for at, seconds, gpus in base:
            seconds = max(1, min(LONGEST, round(seconds * 2 ** draw.uniform(-1, 1))))
            rows.append(Row(at + offset, seconds, gpus, "kalos"))
    rows.sort(key=lambda row: row.at)
    return shifted(rows)


def gangs(seed, count):
    """Sizes 1 .. 256, durations lognormal (median 50 minutes, sigma 1.6), arrivals of a Poisson
    process, eight queues."""
    draw = random.Random(f"gangs {seed}")
    sizes, shares = [1, 2, 4, 8, 16, 32, 64, 128, 256], [45, 12, 10, 16, 6, 5, 3, 2, 1]
    at, rows = 0.0, []
    for _ in range(count):
        at += draw.expovariate(1.0)
        seconds = max(1, min(LONGEST, round(draw.lognormvariate(8.0, 1.6))))
        rows.append(Row(at, seconds, draw.choices(sizes, shares)[0], f"q{draw.randrange(8)}"))
    return shifted(rows)


def imported(*arguments):
    """Rows of what `berth import` makes of a trace."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = pathlib.Path(folder) / "j.jsonl"
        subprocess.run([os.environ.get("BERTH", "berth"), "import", *map(str, arguments), "--machines",
                        "1", "--out-cluster", f"{folder}/c.yaml", "--out-jobs", jobs],
                       check=True, stdout=subprocess.DEVNULL)
        rows = []
        for line in open(jobs, encoding="utf-8"):
            job = json.loads(line)
            at = job.get("arrival", 0)
            gpus = sum(task.get("count", 1) * task["gpus"] for task in job["tasks"])
            deadline = job["deadline"] - at if "deadline" in job else None
            rows.append(Row(at, max(1, min(LONGEST, job["duration"])), gpus,
                            job.get("queue", "q"), deadline))
    return rows


def chronus(first, count):
    """A window of Chronus's draw from Philly; its strict jobs have deadlines."""
    rows = imported("chronus", "--trace",
                    traces() / "chronus_philly_slo/trace_job_Philly_MIX2.csv.gz")
    return shifted(rows[first:first + count])


def pollux(seed):
    """The seed-th workload of Pollux's simulator: 8 hours; the four applications with profiles."""
    files = sorted(traces().glob("pollux_workloads/simulator/workloads-[12].*/workload-*.csv"))
    return shifted(imported("pollux", "--trace", files[seed % len(files)], "--profiles",
                            traces() / "profiles/pollux_aws_t4"))


def shifted(rows):
    return [row._replace(at=row.at - rows[0].at) for row in rows]


def gpu_seconds(rows):
    return sum(row.seconds * row.gpus for row in rows)


def shrunk(rows, load):
    """Machines that the jobs load to this share while they arrive; at least the largest job fits
    what is left of the machines when a quarter is slow."""
    span = rows[-1].at - rows[0].at
    machines = round(gpu_seconds(rows) / (load * span * MACHINE))
    largest = max(row.gpus for row in rows)
    return max(machines, -(-largest * 4 // (3 * MACHINE)) + 1)


def stretched(rows, machines, load):
    """The jobs with gaps between arrivals such that they load so many machines."""
    span = rows[-1].at - rows[0].at
    factor = gpu_seconds(rows) / (load * span * machines * MACHINE)
    return [row._replace(at=row.at * factor) for row in rows]


def load_of(rows, machines):
    return gpu_seconds(rows) / (machines * MACHINE * (rows[-1].at - rows[0].at))


def tasks_of(gpus):
    if gpus <= MACHINE:
        return [{"gpus": gpus}]
    whole, rest = divmod(gpus, MACHINE)
    return [{"count": whole, "gpus": MACHINE}] + ([{"shape": "rest", "gpus": rest}] if rest else [])


def write(folder, rows, machines, types, seed):
    """cluster.yaml and jobs.jsonl. Of two types the second one takes 1.2 .. 2.5 times as long, and
    30 % of the jobs do not run there."""
    draw = random.Random(f"types {seed}")
    slow = round(SLOW_SHARE * machines) if types == 2 else 0
    kinds = [("fast", machines - slow)] + ([("slow", slow)] if slow else [])
    racks = ", ".join(f'{{id: r{k}, machines: [{{ids: "{name}[0-{count - 1}]", class: {name}}}]}}'
                      for k, (name, count) in enumerate(kinds))
    classes = "".join(f"  {name}: {{gpu_type: {name}, gpus: {MACHINE}}}\n" for name, _ in kinds)
    queues = "".join(f'  - {{id: "{queue}"}}\n' for queue in sorted({row.queue for row in rows}))
    (folder / "c.yaml").write_text(f"schema: 1\nclasses:\n{classes}pods:\n  - id: p0\n"
                                   f"    racks: [{racks}]\nqueues:\n{queues}")
    with open(folder / "j.jsonl", "w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            job = {"id": f"j{number}", "arrival": round(row.at), "duration": row.seconds,
                   "queue": row.queue, "tasks": tasks_of(row.gpus)}
            if row.deadline is not None:
                job["deadline"] = job["arrival"] + row.deadline
            factor, only_fast = draw.uniform(1.2, 2.5), draw.random() < 0.3
            if slow and (only_fast or row.gpus > slow * MACHINE):
                job["gpu_types"] = ["fast"]
            elif slow:
                job["speed"] = {"slow": round(1 / factor, 4)}
            file.write(json.dumps(job) + "\n")

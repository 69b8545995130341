# SPDX-License-Identifier: Apache-2.0
"""Workloads that no preset generates: single tasks of many kinds beside gangs (decision 22)."""
import json
import random


def gang(i, count=8, gpus=8, value=80):
    return {"id": f"gang-{i}", "value": value,
            "tasks": [{"count": count, "gpus": gpus, "cpu_milli": 1000}]}


def with_gangs(singles, gpus, draw):
    """One gang of 64 GPUs for every 400 GPUs."""
    return singles + [gang(i) for i in range(gpus // 400)]


def with_values(singles, gpus, draw):
    """Single tasks with a value each beside those gangs: 0.5 to 2 a GPU, CPU-only as 0.05 GPUs."""
    for job in singles:
        task = job["tasks"][0]
        milli = task.get("gpu_milli", 1000 * task.get("gpus", 0)) or 50
        job["value"] = round(milli / 1000 * draw.uniform(0.5, 2), 6)
    return with_gangs(singles, gpus, draw)


def random_shares(singles, gpus, draw):
    """9,000 shares of 228 random shapes and one gang of 2 GPUs."""
    shapes = [{"gpu_milli": draw.randrange(20, 1000), "cpu_milli": draw.randrange(1000, 16000, 500),
               "memory_mib": draw.randrange(1024, 65536, 512)} for _ in range(228)]
    tasks = [draw.choice(shapes) for _ in range(9000)]
    return [{"id": f"share-{i}", "value": t["gpu_milli"] / 1000, "tasks": [t]}
            for i, t in enumerate(tasks)] + [gang(0, count=2, gpus=1, value=2)]


def random_cpus(singles, gpus, draw):
    """Two thirds single tasks, the others gangs of 2 and 4; CPU demands differ."""
    jobs = []
    for i in range(gpus * 4 // 5):
        milli, count = draw.choice([300, 500, 700, 1000, 2000, 4000]), draw.choice([1, 1, 1, 1, 2, 4])
        size = {"gpu_milli": milli} if milli < 1000 else {"gpus": milli // 1000}
        jobs.append({"id": f"job-{i}", "value": round(count * milli / 1000 * draw.uniform(0.5, 2), 6),
                     "tasks": [{"count": count, "cpu_milli": int(milli * draw.uniform(3, 17)),
                                "memory_mib": 1024, **size}]})
    return jobs


def gangs_of_shares(singles, gpus, draw):
    """No single tasks: the pattern LP does not apply."""
    jobs = []
    for i in range(gpus * 6 // 7):
        milli, count = draw.choice([200, 300, 450, 600, 700]), draw.choice([2, 3, 4, 6, 8])
        jobs.append({"id": f"job-{i}", "value": count * milli / 1000,
                     "tasks": [{"count": count, "gpu_milli": milli, "cpu_milli": 6 * milli,
                                "memory_mib": 1024}]})
    return jobs


KINDS = {f.__name__: f for f in
         (with_gangs, with_values, random_shares, random_cpus, gangs_of_shares)}


def lines(kind, singles, gpus):
    jobs = KINDS[kind]([json.loads(line) for line in singles], gpus, random.Random(5))
    return "".join(json.dumps(job) + "\n" for job in jobs)

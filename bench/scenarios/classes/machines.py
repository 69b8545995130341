# SPDX-License-Identifier: Apache-2.0
"""Several kinds of machines and of GPUs."""
from classes.registry import scenario
from classes.usual import usual_jobs
from instance import Cluster, Instance, job, machine_class, task


@scenario
def mixed_machines(gpus, draw):
    """Machines of 1 to 16 GPUs side by side; tasks of 1 to 16 GPUs, some of odd sizes."""
    sizes = {1: 1, 2: 1, 4: 1, 8: 3, 16: 2}
    machines, left = [], gpus
    while left:
        size = draw.weighted({s: w for s, w in sizes.items() if s <= left})
        machines.append(f"gpus-{size}")
        left -= size
    classes = {f"gpus-{s}": machine_class(s) for s in sizes}
    cluster = Cluster(classes, machines, rack=8, pod=128)
    tasks = {1: 2, 2: 2, 3: 1, 4: 2, 5: 1, 6: 1, 8: 2, 12: 1, 16: 1}
    counts = {1: 4, 2: 1, 4: 1, 8: 1}
    jobs = draw.jobs(1.3 * gpus, lambda: job(task(draw.weighted(tasks), draw.weighted(counts))))
    return Instance(cluster, draw.values(jobs))


@scenario
def hetero_speed(gpus, draw):
    """Four GPU types by rack pairs; five families of jobs that rank the types differently."""
    types = ["H100", "A100", "V100", "T4"]
    families = [
        [1.0, 0.6, 0.3, 0.15],
        [0.5, 1.0, 0.5, 0.3],
        [0.3, 0.4, 1.0, 0.9],
        [0.15, 0.2, 0.6, 1.0],
        [1.0, 0.95, 0.9, 0.85],
    ]
    machines = [types[m // 16 % len(types)] for m in range(gpus // 8)]
    cluster = Cluster({t: machine_class(8, t) for t in types}, machines, rack=8, pod=64)
    jobs = draw.values(usual_jobs(cluster, draw))
    for entry in jobs:
        family = draw.choice(families)
        entry["speed"] = {t: round(s * draw.uniform(0.8, 1), 3) for t, s in zip(types, family)}
    return Instance(cluster, jobs)


@scenario
def gpuspec15(gpus, draw):
    """15 GPU types of unequal number; a third of the jobs accept one to three of them."""
    types = [f"type-{i}" for i in range(15)]
    classes = {t: machine_class(draw.choice([2, 4, 8]), t) for t in types}
    shares = {t: 1 / (1 + i) for i, t in enumerate(types)}
    machines, total = [], 0
    while total < gpus:
        machines.append(draw.weighted(shares))
        total += classes[machines[-1]]["gpus"]
    machines.sort(key=types.index)
    cluster = Cluster(classes, machines, rack=16, pod=256)

    def make():
        entry = job(task(draw.weighted({1: 3, 2: 1, 4: 1, 8: 1}), draw.weighted({1: 8, 2: 1, 4: 1})))
        if draw.random() < 1 / 3:
            entry["gpu_types"] = draw.sample(types, draw.randint(1, 3))
        return entry

    return Instance(cluster, draw.values(draw.jobs(1.3 * cluster.gpus(), make)))


@scenario
def types64(gpus, draw):
    """64 GPU types; a job is fast on eight of them and has speed 0.1 on the others."""
    types = [f"type-{i}" for i in range(64)]
    machines = [types[m // 4 % 64] for m in range(gpus // 8)]
    cluster = Cluster({t: machine_class(8, t) for t in types}, machines, rack=4, pod=64)
    jobs = draw.values(usual_jobs(cluster, draw, sizes={1: 2, 2: 1, 4: 1, 8: 2, 16: 1}))
    for entry in jobs:
        fast = draw.sample(types, 8)
        speed = dict.fromkeys(types, 0.1)
        entry["speed"] = speed | {t: round(draw.uniform(0.5, 1), 3) for t in fast}
    return Instance(cluster, jobs)


@scenario
def exclusive(gpus, draw):
    """A quarter of the small jobs, of 1 to 6 GPUs and one to four tasks, want machines of their own."""

    def make():
        if draw.random() < 0.3:
            return job(task(8, draw.choice([1, 2, 4])))
        entry = job(task(draw.choice([1, 2, 3, 4, 6]), draw.choice([1, 2, 4])))
        if draw.random() < 0.25:
            entry["exclusive"] = "machine"
        return entry

    cluster = Cluster.uniform(gpus)
    return Instance(cluster, draw.values(draw.jobs(1.4 * gpus, make), 0.5, 3.0))

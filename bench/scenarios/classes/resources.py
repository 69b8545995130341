# SPDX-License-Identifier: Apache-2.0
"""Cores, memory and NICs are scarce, not only GPUs."""
from classes.registry import scenario
from classes.usual import plain
from instance import CORES_PER_GPU, Cluster, Instance, job, machine_class, task

SIZES = {1: 2, 2: 1, 4: 1, 8: 1}  # GPUs of a task
COUNTS = {1: 3, 2: 1, 4: 1, 8: 1}  # tasks of a job
CORES, GIB, NIC_MBPS = 96, 768, 100_000  # of a machine


@scenario
def ps_jobs(gpus, draw):
    """Workers with servers of 12 to 40 cores; one machine in nine has no GPUs and 64 cores."""
    machines = ["cpu" if m % 9 == 8 else "gpu" for m in range(gpus // 8 * 9 // 8)]
    classes = {"gpu": machine_class(8), "cpu": machine_class(0, cores=64, gib=256)}
    cluster = Cluster(classes, machines, rack=9, pod=144)

    def make():
        workers = draw.choice([2, 4, 8, 16, 32])
        servers = task(count=max(1, workers // 4), cores=draw.choice([12, 24, 40]), gib=32, shape="server")
        return job(task(draw.weighted({1: 2, 2: 1}), workers, shape="worker"), servers)

    return Instance(cluster, draw.values(draw.jobs(1.3 * cluster.gpus(), make)))


def many_cores(draw, count):
    size = draw.weighted(SIZES)
    cores = min(CORES, size * draw.choice([8, 12, 16, 20, 24]))
    return job(task(size, count, cores=cores))


@scenario
def cpu_bound(gpus, draw):
    """Machines have 12 cores a GPU, tasks ask for 8 to 24; single tasks and gangs."""
    return plain(gpus, draw, lambda: many_cores(draw, draw.weighted(COUNTS)))


@scenario
def cpu_bound_single(gpus, draw):
    """As cpu_bound, with single tasks only."""
    return plain(gpus, draw, lambda: many_cores(draw, 1))


@scenario
def mem_bound(gpus, draw):
    """Machines have 96 GiB a GPU, tasks ask for 48 to 192; single tasks, shares and gangs."""

    def make():
        if draw.random() < 0.3:
            return job(task(milli=500, gib=draw.choice([24, 48, 96])))
        size = draw.weighted(SIZES)
        gib = min(GIB, size * draw.choice([64, 96, 128, 180]))
        return job(task(size, draw.weighted(COUNTS), gib=gib))

    return plain(gpus, draw, make)


@scenario
def nic_bound(gpus, draw):
    """A NIC of 100 Gbit/s a machine; tasks ask for up to 25 Gbit/s a GPU."""

    def make():
        size = draw.choice([1, 2, 4, 8])
        mbps = min(NIC_MBPS, size * draw.choice([0, 6_000, 12_500, 20_000, 25_000]))
        return job(task(size, draw.weighted({1: 2, 2: 1, 4: 1, 8: 1}), nic_mbps=mbps))

    jobs = draw.jobs(1.3 * gpus, make)
    return Instance(Cluster.uniform(gpus, nic_mbps=NIC_MBPS), draw.values(jobs))


def profiled(draw, low=3, high=18):
    """GPUs, cores and GiB of a task, drawn apart from each other."""
    size = draw.weighted({1: 2, 2: 1, 4: 1})
    return size, round(size * draw.uniform(low, high), 1), round(size * draw.uniform(20, 140))


def of_profile(profile, draw):
    size, cores, gib = profile
    return job(task(size, draw.weighted({1: 4, 2: 1, 4: 1}), cores=cores, gib=gib))


@scenario
def shapes200(gpus, draw):
    """240 profiles of cores and memory; single tasks and gangs of up to 4 tasks."""
    profiles = [profiled(draw) for _ in range(240)]
    return plain(gpus, draw, lambda: of_profile(draw.choice(profiles), draw))


@scenario
def own_shapes(gpus, draw):
    """As shapes200, each job with a profile of its own."""
    return plain(gpus, draw, lambda: of_profile(profiled(draw), draw))


def on_types(cores_by_type, gpus, draw, profiles, load=1.3):
    """Racks of each type in turn; every job has a speed on each."""
    types = list(cores_by_type)
    machines = [types[m // 8 % len(types)] for m in range(gpus // 8)]
    classes = {t: machine_class(8, t, cores=8 * c) for t, c in cores_by_type.items()}
    jobs = draw.values(draw.jobs(load * gpus, lambda: of_profile(draw.choice(profiles), draw)))
    for entry in jobs:
        entry["speed"] = {t: round(draw.uniform(0.3, 1), 2) for t in types}
    return Instance(Cluster(classes, machines), jobs)


@scenario
def shapes240x4(gpus, draw):
    """240 profiles on four GPU types: more rows of tasks by type than the configuration LP takes."""
    profiles = [profiled(draw) for _ in range(240)]
    return on_types({f"type-{i}": CORES_PER_GPU for i in range(4)}, gpus, draw, profiles)


@scenario
def scarce_cores(gpus, draw):
    """300 profiles on types of 8, 12 and 16 cores a GPU: cores are scarce in sum."""
    profiles = [profiled(draw, 4, 22) for _ in range(300)]
    return on_types({"few": 8, "usual": 12, "many": 16}, gpus, draw, profiles, load=1.5)

# SPDX-License-Identifier: Apache-2.0
"""Jobs cut out of a full cluster: all of them fit, so the optimum is known.

A class of slack leaves out some of the jobs; the others must all be placed.
"""
from collections import Counter

from classes.registry import register, scenario
from classes.shares import share_or_gpu
from instance import Cluster, Instance, gang, gpus_of, job, task

MACHINE_CUTS = [(8,), (7, 1), (6, 2), (5, 3), (4, 4), (4, 3, 1), (3, 3, 2)]  # GPUs
GPU_CUTS = [(1000,), (500, 500), (700, 300), (600, 400), (450, 350, 200), (300, 300, 400), (250,) * 4]
CORE_CUTS = [(4, 4), (4, 2, 2), (2, 2, 2, 2), (4, 2, 1, 1), (6, 2), (6, 1, 1)]  # GPUs
RACK_CUTS = [(64,), (40, 24), (48, 16), (24, 24, 16), (32, 32), (56, 8), (32, 24, 8), (40, 16, 8)]


def bound_together(draw, pieces, gang_part, sizes, make):
    """Equal pieces as jobs: a part of the draws makes gangs of one of the sizes, the rest single tasks."""
    jobs = []
    for piece, left in sorted(Counter(pieces).items()):
        while left:
            count = min(left, draw.choice(sizes) if draw.random() < gang_part else 1)
            jobs.append(make(piece, count))
            left -= count
    return jobs


def machine_pieces(cluster, draw, gang_part):
    pieces = [p for _ in cluster.machines for p in draw.choice(MACHINE_CUTS)]
    return bound_together(draw, pieces, gang_part, [2, 3, 4, 6, 8],
                          lambda size, count: job(task(size, count, cores=12 * size, gib=96 * size)))


def share_pieces(cluster, draw, gang_part):
    pieces = [p for _ in range(cluster.gpus()) for p in draw.choice(GPU_CUTS)]
    return bound_together(draw, pieces, gang_part, [2, 3, 4, 6, 8, 16],
                          lambda milli, count: job(share_or_gpu(milli, count, cores=1, gib=1)))


def core_pieces(cluster, draw):
    """Single tasks that use up all GPUs and all 96 cores of a machine."""
    jobs = []
    for _ in cluster.machines:
        sizes = draw.choice(CORE_CUTS)
        wishes = [draw.randint(2, 14) * size for size in sizes]
        cores = [96 * wish // sum(wishes) for wish in wishes]
        cores[0] += 96 - sum(cores)
        jobs += [job(task(size, cores=c, gib=1)) for size, c in zip(sizes, cores)]
    return jobs


def rack_pieces(cluster, draw):
    racks = len(cluster.machines) // cluster.rack
    return [gang(size, domain="rack") for _ in range(racks) for size in draw.choice(RACK_CUTS)]


def pod_pieces(cluster, draw):
    jobs = []
    for first in range(0, len(cluster.machines), cluster.pod):
        left = min(cluster.pod, len(cluster.machines) - first)
        while left:
            size = min(left, draw.choice([8, 12, 20, 24, 36, 44, 52, 64, 80]))
            jobs.append(gang(8 * size, domain="pod"))
            left -= size
    return jobs


def planted(gpus, draw, cut, *args, required=False, leave_out=0.0):
    """An instance whose jobs are worth their GPUs, without jobs of `leave_out` of the cluster."""
    cluster = Cluster.uniform(gpus)
    jobs = draw.shuffled(cut(cluster, draw, *args))
    gone = 0.0
    while gone < leave_out * gpus:
        gone += gpus_of(jobs.pop())
    for entry in jobs:
        entry["value"] = round(gpus_of(entry), 6)
        if required:
            entry["required"] = True
    return Instance(cluster, jobs, round(sum(entry["value"] for entry in jobs), 6))


@scenario
def zero_waste(gpus, draw):
    """Machines of 8 cut into single tasks, all GPUs used."""
    return planted(gpus, draw, machine_pieces, 0)


@scenario
def zero_waste_required(gpus, draw):
    """As zero_waste, every job required."""
    return planted(gpus, draw, machine_pieces, 0, required=True)


@scenario
def zero_waste_gangs(gpus, draw):
    """As zero_waste, half of the draws bind 2 to 8 equal tasks to a gang."""
    return planted(gpus, draw, machine_pieces, 0.5)


@scenario
def zero_waste_gangs_required(gpus, draw):
    """As zero_waste_gangs, every job required."""
    return planted(gpus, draw, machine_pieces, 0.5, required=True)


@scenario
def zero_waste_shares(gpus, draw):
    """GPUs cut into single shares of 200 to 700 thousandths."""
    return planted(gpus, draw, share_pieces, 0)


@scenario
def zero_waste_replicas(gpus, draw):
    """As zero_waste_shares, 70 % of the draws bind 2 to 16 equal shares to a gang."""
    return planted(gpus, draw, share_pieces, 0.7)


def slack(name, percent, cut, gang_part):
    def make(gpus, draw):
        return planted(gpus, draw, cut, gang_part, required=True, leave_out=percent / 100)

    make.__doc__ = f"All of {name} required, but {percent} % of the GPUs stay free."
    register(f"slack{percent}_{name.split('_')[-1]}", make)


for percent in (2, 5, 10):
    slack("zero_waste_gangs", percent, machine_pieces, 0.5)
for percent in (2, 5, 10):
    slack("zero_waste_replicas", percent, share_pieces, 0.7)


@scenario
def zero_waste_cpu(gpus, draw):
    """Single tasks that use up the GPUs and the cores of every machine."""
    return planted(gpus, draw, core_pieces)


@scenario
def zero_waste_racks(gpus, draw):
    """Racks of 64 GPUs cut into gangs of 8 to 64 that must be in one rack."""
    return planted(gpus, draw, rack_pieces)


@scenario
def zero_waste_pods(gpus, draw):
    """Pods of 1,024 GPUs cut into gangs of 64 to 640 that must be in one pod."""
    return planted(gpus, draw, pod_pieces)

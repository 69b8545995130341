# SPDX-License-Identifier: Apache-2.0
"""Machines that are in use already: running jobs, foreign content, machines out of service."""
from classes.registry import scenario
from classes.usual import usual_jobs
from instance import Cluster, Instance, gang, gpus_of, job, task


class Devices:
    """Free devices of each machine; where running jobs are put."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.free = [list(range(cluster.gpus_of(m))) for m in range(len(cluster.machines))]

    def first_fit(self, entry, machines, **running):
        """Puts the tasks of a job of one group on the first machines with room; False: no room."""
        group = entry["tasks"][0]
        chosen = []
        for m in machines:
            fits = len(self.free[m]) // group["gpus"]
            chosen += [m] * min(fits, group["count"] - len(chosen))
            if len(chosen) == group["count"]:
                break
        else:
            return False
        entry["running"] = {"tasks": [self._take(m, group) for m in chosen], **running}
        return True

    def _take(self, machine, group):
        taken = self.free[machine][: group["gpus"]]
        del self.free[machine][: group["gpus"]]
        gpus = [{"index": i} for i in taken]
        shape = group.get("shape", "task")
        return {"shape": shape, "machine": self.cluster.machine_id(machine), "gpus": gpus}


def costs(entry, stop, move):
    """Costs as parts of the job's value."""
    return {"stop_cost": round(stop * entry["value"], 4), "move_cost": round(move * entry["value"], 4)}


def scattered(gpus, draw, devices, sizes, machines, costs_of):
    """Running jobs with values on `gpus` GPUs, each on random machines of machines()."""
    jobs, used = [], 0
    while used < gpus:
        entry = draw.values([gang(draw.weighted(sizes))])[0]
        if devices.first_fit(entry, draw.shuffled(machines()), **costs_of(entry)):
            jobs.append(entry)
            used += gpus_of(entry)
    return jobs


@scenario
def running80(gpus, draw):
    """Scattered running jobs on 80 % of the GPUs; stopping costs 20 % of a job's value, moving 5 %."""
    cluster = Cluster.uniform(gpus)
    sizes = {1: 2, 2: 1, 4: 1, 8: 1, 16: 1, 32: 1, 64: 1}
    run = scattered(gpus * 0.8, draw, Devices(cluster), sizes, lambda: range(len(cluster.machines)),
                    lambda entry: costs(entry, 0.2, 0.05))
    sizes = [1, 2, 4, 8, 16, 32, 64, 128]
    wait = draw.values(draw.jobs(0.5 * gpus, lambda: gang(draw.choice(sizes))))
    return Instance(cluster, run + wait)


@scenario
def defrag(gpus, draw):
    """One job of 1 GPU on every machine, and a gang of a quarter of the cluster that needs them moved.

    A best plan moves one job off each machine of the gang.
    """
    cluster = Cluster.uniform(gpus)
    devices = Devices(cluster)
    jobs = [gang(1, value=2) for _ in cluster.machines]
    for m, entry in enumerate(jobs):
        devices.first_fit(entry, [m], stop_cost=1, move_cost=0.05)
    size = gpus // 4
    optimum = 2 * len(jobs) + size - 0.05 * (size // 8)
    return Instance(cluster, [*jobs, gang(size, value=size)], optimum)


@scenario
def defrag512(gpus, draw):
    """75 % of the GPUs hold jobs of 1 to 4 that move cheaply; gangs of 64 and 512 GPUs wait."""
    cluster = Cluster.uniform(gpus)
    devices = Devices(cluster)
    jobs, used = [], 0
    while used < 0.75 * gpus:
        size = draw.weighted({1: 2, 2: 1, 3: 1, 4: 1})
        entry = gang(size, value=3 * size)
        machine = draw.randrange(len(cluster.machines))
        if devices.first_fit(entry, [machine], stop_cost=size, move_cost=0.02 * size):
            jobs.append(entry)
            used += size
    factors = {"pod": 0.98, "cluster": 0.9}
    jobs += [gang(512, value=512, width_factor=factors) for _ in range(max(1, gpus // 4096))]
    return Instance(cluster, jobs + [gang(64, value=60) for _ in range(gpus // 1024)])


@scenario
def pinned(gpus, draw):
    """A pinned job of 1 to 5 GPUs on every machine; tasks of 1 to 7 GPUs wait."""
    cluster = Cluster.uniform(gpus)
    devices = Devices(cluster)
    jobs = [gang(draw.weighted({1: 2, 2: 1, 3: 1, 5: 1})) for _ in cluster.machines]
    for m, entry in enumerate(jobs):
        devices.first_fit(entry, [m], pinned=True)
    counts = {1: 2, 2: 1, 4: 1, 8: 1, 16: 1}
    left = sum(map(len, devices.free))
    wait = draw.jobs(1.3 * left, lambda: job(task(draw.randint(1, 7), draw.weighted(counts))))
    return Instance(cluster, jobs + draw.values(wait))


@scenario
def drained(gpus, draw):
    """A fifth of the machines is drained: every tenth rack, a fifth of others, and at random."""
    cluster = Cluster.uniform(gpus)

    def out(machine):
        rack = machine // cluster.rack % 10
        return rack == 3 or (rack in (5, 6) and machine % 5 == 0) or draw.random() < 0.07

    ids = [cluster.machine_id(m) for m in range(len(cluster.machines)) if out(m)]
    cluster.states = [{"ids": ids, "state": "drained"}]
    return Instance(cluster, draw.values(usual_jobs(cluster, draw, 1.1)))


@scenario
def unique_used(gpus, draw):
    """Foreign content on every machine, different everywhere: devices, shares, cores, memory."""
    cluster = Cluster.uniform(gpus)
    for m in range(len(cluster.machines)):
        used = {"cpu_milli": draw.randrange(24_000), "memory_mib": draw.randrange(192 * 1024)}
        held = [{"index": i} for i in range(8) if draw.random() < 0.15]
        for device in held:
            if draw.random() < 0.5:
                device["milli"] = draw.randrange(50, 1000, 10)
        if held:
            used["gpus"] = held
        cluster.states.append({"ids": cluster.machine_id(m), "used": used})

    def make():
        if draw.random() < 0.4:
            return job(task(milli=draw.choice([100, 250, 400, 700]), cores=3))
        return gang(draw.weighted({1: 2, 2: 1, 4: 2, 8: 1, 16: 1, 32: 1}))

    return Instance(cluster, draw.values(draw.jobs(1.2 * 0.85 * gpus, make)))

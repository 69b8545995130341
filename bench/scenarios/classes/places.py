# SPDX-License-Identifier: Apache-2.0
"""Homes of jobs, unusual racks and pods, and everything at once."""
from classes.limits import quota
from classes.registry import scenario
from classes.running import Devices, costs, scattered
from classes.shares import share_or_gpu
from classes.usual import usual_jobs
from instance import Cluster, Instance, gang, job, machine_class, task


@scenario
def home_racks(gpus, draw):
    """Every job has a home rack, mostly one of the first: 1 there, 0.5 in its pod, 0.2 elsewhere."""
    cluster = Cluster.uniform(gpus)
    racks = cluster.rack_ids()
    sizes = {1: 1, 2: 1, 4: 1, 8: 2, 16: 1, 32: 1}
    jobs = draw.values(usual_jobs(cluster, draw, sizes=sizes))
    for entry in jobs:
        rack = racks[int(len(racks) * draw.random() ** 2)]
        entry["home"] = {"rack": rack, "factor": {"rack": 1, "pod": 0.5, "cluster": 0.2}}
    return Instance(cluster, jobs)


@scenario
def home_shares(gpus, draw):
    """Shares and jobs of 1 or 2 GPUs with home racks: 1 there, 0.6 in its pod, 0.3 elsewhere."""
    cluster = Cluster.uniform(gpus)
    racks = cluster.rack_ids()
    factor = {"rack": 1, "pod": 0.6, "cluster": 0.3}

    def make():
        milli = draw.weighted({100: 1, 250: 1, 400: 1, 600: 1, 1000: 1, 2000: 1})
        tasks = task(2) if milli == 2000 else share_or_gpu(milli)
        return job(tasks, home={"rack": draw.choice(racks), "factor": factor})

    return Instance(cluster, draw.values(draw.jobs(1.3 * gpus, make)))


@scenario
def one_rack(gpus, draw):
    """All machines in one rack of one pod."""
    cluster = Cluster.uniform(gpus, rack=gpus, pod=gpus)
    return Instance(cluster, draw.values(usual_jobs(cluster, draw)))


@scenario
def racks_of_one(gpus, draw):
    """Every machine is a rack, eight are a pod; values fall with width."""
    cluster = Cluster.uniform(gpus, rack=1, pod=8)
    jobs = draw.values(usual_jobs(cluster, draw))
    for entry in jobs:
        entry["width_factor"] = {"pod": 0.95, "cluster": 0.85}
    return Instance(cluster, jobs)


@scenario
def flat_mixed(gpus, draw):
    """No racks; machines of 2, 4 and 8 GPUs; shares, single tasks with many cores, small gangs."""
    classes = {
        "two": machine_class(2, "A", cores=64),
        "four": machine_class(4, "B", cores=64),
        "eight": machine_class(8, "C"),
    }
    weights = {"two": 4, "four": 2, "eight": 1}  # 24/7 GPUs a machine in the mean
    machines = [draw.weighted(weights) for _ in range(gpus // 3)]
    cluster = Cluster(classes, machines, rack=gpus, pod=gpus)

    def make():
        kind = draw.random()
        if kind < 0.4:
            return job(task(milli=draw.choice([100, 200, 500]), cores=draw.choice([2, 6, 12])))
        if kind < 0.8:
            size = draw.weighted({1: 2, 2: 1})
            return job(task(size, cores=size * draw.choice([4, 12, 30])))
        return job(task(draw.choice([1, 2]), draw.choice([2, 4, 8, 16]), cores=8))

    return Instance(cluster, draw.values(draw.jobs(1.3 * cluster.gpus(), make)))


@scenario
def duplicates(gpus, draw):
    """10,000 equal jobs of 3 GPUs worth 3, of which a machine holds two, and some of 8 worth 7.2."""
    jobs = [gang(3, value=3) for _ in range(10_000)]
    return Instance(Cluster.uniform(gpus), jobs + [gang(8, value=7.2) for _ in range(gpus // 16)])


def mixed_job(draw):
    """A service of shares, or a gang that may send in a ring and loses value with width."""
    if draw.random() < 0.35:
        return job(task(milli=draw.choice([250, 500]), count=draw.weighted({1: 2, 4: 1, 8: 1})))
    size = draw.weighted({1: 2, 2: 1, 4: 1, 8: 2, 16: 1, 32: 1, 64: 1, 128: 1})
    entry = gang(size)
    if size > 8:
        entry["width_factor"] = {"rack": 1, "pod": 0.97, "cluster": 0.9}
        if draw.random() < 0.5:
            entry["communication"] = {"pattern": "ring", "gbps": draw.choice([10, 25, 50])}
    return entry


@scenario
def production(gpus, draw):
    """A cluster at noon: two GPU types, quotas, rings, drained, pinned and movable jobs, services."""
    classes = {"h": machine_class(8, "H100"), "a": machine_class(8, "A100")}
    machines = ["h" if m // 64 % 3 == 0 else "a" for m in range(gpus // 8)]
    cluster = Cluster(classes, machines, rack=8, pod=64, rack_gbps=200, pod_gbps=800)
    teams = [f"team-{t}" for t in range(5)]
    penalties = [{"over_quota_penalty": 0.4} if t % 2 else {} for t in range(5)]
    cluster.queues = [quota("org", 0.92 * gpus)]
    cluster.queues += [quota(t, 0.3 * gpus, parent="org", **p) for t, p in zip(teams, penalties)]
    devices = Devices(cluster)
    out = sorted(draw.sample(range(len(machines)), len(machines) // 20))
    cluster.states = [{"ids": [cluster.machine_id(m) for m in out], "state": "drained"}]
    for m in out:
        devices.free[m] = []

    def one_type():
        chosen = draw.choice(["h", "a"])
        return [m for m, name in enumerate(machines) if name == chosen]

    def running(entry):
        return {"pinned": True} if draw.random() < 0.3 else costs(entry, 0.3, 0.1)

    sizes = {1: 1, 2: 1, 4: 1, 8: 1, 16: 1, 32: 1}
    run = scattered(0.6 * gpus, draw, devices, sizes, one_type, running)
    wait = draw.values(draw.jobs(0.7 * gpus, lambda: mixed_job(draw)))
    for entry in wait:
        entry["speed"] = {"H100": 1, "A100": draw.choice([0.4, 0.6, 0.8])}
    for entry in run + wait:
        entry["queue"] = draw.choice(teams)
    return Instance(cluster, run + wait)

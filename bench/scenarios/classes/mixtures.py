# SPDX-License-Identifier: Apache-2.0
"""Keys of every kind together, in mixtures drawn by the seed: what no other class combines."""
from classes.limits import quota
from classes.registry import scenario
from classes.running import Devices, costs
from instance import Cluster, Instance, gpus_of, job, machine_class, task

STOP_AND_MOVE = [(0.3, 0.1), (0.2, 0.05), (0.05, 0.01)]  # parts of a job's value


def drawn_cluster(gpus, draw):
    """One to six GPU types of 2 to 16 GPUs a machine, by rack, by pod or mixed; some machines out."""
    sizes = draw.choice([[8], [8], [8], [4], [4, 8], [8, 16], [2, 4, 8]])
    classes = {}
    for t in range(draw.choice([1, 1, 2, 2, 3, 4, 6])):
        size = draw.choice(sizes)
        cores, gib = size * draw.choice([8, 12, 12, 16]), size * draw.choice([64, 96, 128])
        classes[f"class-{t}"] = machine_class(size, f"type-{t}", cores=cores, gib=gib)
    rack = draw.choice([4, 8, 8, 16])
    pod = rack * draw.choice([4, 8, 16])
    run = draw.choice([1, rack, pod])  # machines of one class in a row
    cluster = Cluster(classes, [], rack, pod)
    names, left = list(classes), gpus
    while left > 0:
        m = len(cluster.machines)
        name = draw.choice(names) if run == 1 else names[m // run % len(names)]
        cluster.machines.append(name)
        left -= classes[name]["gpus"]
    if draw.random() < 0.3:
        cluster.rack_gbps, cluster.pod_gbps = draw.choice([100, 200, 400]), 1600
    if draw.random() < 0.4:
        count = len(cluster.machines)
        out = sorted(draw.sample(range(count), 1 + count // 25))
        state = draw.choice(["drained", "drain"])
        cluster.states = [{"ids": [cluster.machine_id(m) for m in out], "state": state}]
    if draw.random() < 0.45:
        teams = draw.choice([3, 6, 20])
        cluster.queues = [quota("org", draw.choice([0.8, 0.9, 1]) * cluster.gpus())]
        for t in range(teams):
            soft = {"over_quota_penalty": round(draw.uniform(0.1, 0.8), 2)}
            cluster.queues.append(quota(f"team-{t}", cluster.gpus() * draw.uniform(0.8, 2) / teams,
                                        parent="org", **(soft if draw.random() < 0.3 else {})))
    return cluster


def drawn_kinds(cluster, draw):
    """Makers of jobs by name, each with its weight among the jobs."""
    sizes = [c["gpus"] for c in cluster.classes.values()]
    least, most = min(sizes), max(sizes)
    profiles = [(size, size * draw.uniform(3, 8), size * draw.uniform(20, 60))
                for size in (1, 2, 4, 8) if size <= most for _ in range(draw.choice([1, 3, 10]))]

    def of_profile(counts):
        size, cores, gib = draw.choice(profiles)
        return job(task(size, draw.choice(counts), cores=round(cores, 1), gib=round(gib)))

    def with_servers():
        workers = draw.choice([2, 4, 8])
        return job(task(draw.choice([1, 2]), workers, shape="worker"),
                   task(0, max(1, workers // 4), cores=4, gib=16, shape="server"))

    kinds = {
        "single": (1, 0.5, 3, lambda: of_profile([1])),
        "gang": (0.8, 0.2, 2, lambda: job(task(least, draw.choice([2, 2, 4, 4, 8, 16])))),
        "large": (0.4, 0.05, 0.4, lambda: job(task(least, draw.choice([8, 16, 32])))),
        "replicas": (0.5, 0.2, 2, lambda: of_profile([2, 3, 4, 8, 12])),
        "servers": (0.25, 0.2, 1, with_servers),
        "shares": (0.35, 0.3, 2, lambda: job(task(milli=draw.choice([100, 250, 500, 750]),
                                                  count=draw.choice([1, 1, 2, 4])))),
    }
    return {make: draw.uniform(low, high) for chance, low, high, make in kinds.values()
            if draw.random() < chance}


def key_makers(cluster, draw):
    """(only gangs?, share of the jobs, maker of keys): some of them in one instance."""
    types = sorted({c["gpu_type"] for c in cluster.classes.values()})
    racks = cluster.rack_ids()
    several = len(types) > 1
    makers = [
        (True, draw.choice([0, 0, 0.4, 0.9]), lambda: {"width_factor": {
            "rack": 1, "pod": draw.choice([0.95, 0.9]), "cluster": draw.choice([0.9, 0.8])}}),
        (True, draw.choice([0, 0, 0, 0.3]), lambda: {"domain": draw.choice(["rack", "pod"])}),
        (True, draw.choice([0, 0, 0, 0.3]), lambda: {"max_tasks_per": {"machine": 1}}),
        (True, draw.choice([0, 0, 0, 0.2]), lambda: {
            "min_domains": {draw.choice(["machine", "rack"]): 2}}),
        (True, 0.4 if cluster.rack_gbps else 0, lambda: {
            "communication": {"pattern": "ring", "gbps": draw.choice([5, 10, 25])}}),
        (False, draw.choice([0, 0, 0, 0.3]), lambda: {"home": {
            "rack": draw.choice(racks), "factor": {"rack": 1, "pod": 0.9, "cluster": 0.75}}}),
        (False, draw.choice([0, 0.5, 1]) if several else 0, lambda: {
            "speed": {t: round(draw.uniform(0.3, 1), 2) for t in types}}),
        (False, draw.choice([0, 0, 0.3]) if several else 0, lambda: {
            "gpu_types": draw.sample(types, draw.choice([1, len(types) - 1]))}),
        (False, draw.choice([0, 0, 0, 0.1]), lambda: {"exclusive": "machine"}),
        (False, draw.choice([0, 0, 0, 0.3]), lambda: draw.choice(
            [{"labels": ["apart"]}, {"not_with": ["apart"]}])),
    ]
    return [maker for maker in makers if maker[1] > 0]


def add_keys(entry, makers, draw):
    """Keys that contradict each other are left out: `min_domains` with `domain`, rings with servers."""
    tasks = sum(group["count"] for group in entry["tasks"])
    for only_gangs, share, make in makers:
        if draw.random() >= share or (only_gangs and tasks == 1):
            continue
        keys = make()
        narrow = {"domain", "max_tasks_per", "min_domains"} & keys.keys()
        if narrow and {"domain", "max_tasks_per", "min_domains"} & entry.keys():
            continue
        if "communication" in keys and len(entry["tasks"]) > 1:
            continue
        entry.update(keys)


def running_jobs(cluster, draw, devices, values):
    """Jobs on 30 to 80 % of the GPUs, some of them pinned."""
    part, pinned = draw.choice([0.3, 0.6, 0.8]), draw.choice([0, 0.3])
    stop, move = draw.choice(STOP_AND_MOVE)
    least = min(c["gpus"] for c in cluster.classes.values())
    jobs, used = [], 0
    for _ in range(20 * len(cluster.machines)):
        if used >= part * cluster.gpus():
            break
        size = draw.choice([s for s in (1, 1, 2, 4, 8) if s <= least])
        entry = draw.values([job(task(size, draw.choice([1, 1, 1, 2, 4]), cores=1, gib=1))], *values)[0]
        name = draw.choice(list(cluster.classes))
        machines = [m for m, known in enumerate(cluster.machines) if known == name]
        keys = {"pinned": True} if draw.random() < pinned else costs(entry, stop, move)
        if devices.first_fit(entry, draw.shuffled(machines), **keys):
            jobs.append(entry)
            used += gpus_of(entry)
    return jobs, used


@scenario
def mixture(gpus, draw):
    """Types, racks, limits, rules, running jobs and kinds of jobs, each drawn by the seed."""
    cluster = drawn_cluster(gpus, draw)
    devices = Devices(cluster)
    for state in cluster.states:
        for name in state["ids"]:
            devices.free[int(name[1:])] = []
    values = draw.choice([(0.5, 2), (0.5, 2), (0.9, 1.1), (0.1, 10)])
    run, used = running_jobs(cluster, draw, devices, values) if draw.random() < 0.4 else ([], 0)
    kinds, makers = drawn_kinds(cluster, draw), key_makers(cluster, draw)
    load = draw.choice([0.7, 1.0, 1.2, 1.4]) * cluster.gpus() - 0.5 * used
    wait = draw.values(draw.jobs(load, lambda: draw.weighted(kinds)()), *values)
    for entry in wait:
        add_keys(entry, makers, draw)
    teams = [q["id"] for q in cluster.queues[1:]]
    for entry in run + wait if teams else []:
        entry["queue"] = draw.choice(teams)
    return Instance(cluster, run + wait)

# SPDX-License-Identifier: Apache-2.0
"""Quotas of queues, uplinks of racks and pods."""
from classes.registry import scenario
from classes.usual import usual_jobs
from instance import Cluster, Instance, gang, task


def quota(name, gpus, **keys):
    return {"id": name, "gpu_quota": int(gpus), **keys}


def queued(gpus, draw, queues, weights, load=1.3):
    """Usual jobs in queues, drawn by weight."""
    cluster = Cluster.uniform(gpus)
    cluster.queues = queues
    jobs = draw.values(usual_jobs(cluster, draw, load))
    for entry in jobs:
        entry["queue"] = draw.weighted(weights)
    return Instance(cluster, jobs)


@scenario
def quotas_tight(gpus, draw):
    """90 % for the organisation, four departments of four teams; each level promises half too much."""
    root = 0.9 * gpus
    queues, weights = [quota("root", root)], {}
    for d in range(4):
        queues.append(quota(f"dept-{d}", root * 1.5 / 4, parent="root"))
        for t in range(4):
            team = f"team-{d}-{t}"
            queues.append(quota(team, root * 1.5**2 / 16, parent=f"dept-{d}"))
            weights[team] = 1 + d + t
    return queued(gpus, draw, queues, weights, load=1.6)


@scenario
def quotas_soft(gpus, draw):
    """16 teams with 4 % each; a GPU beyond costs a team 0.1 to 1. Four teams ask for most."""
    teams = [f"team-{t}" for t in range(16)]
    soft = [
        quota(t, gpus // 25, parent="root", over_quota_penalty=round(draw.uniform(0.1, 1), 2))
        for t in teams
    ]
    weights = {t: 6 if i < 4 else 2 for i, t in enumerate(teams)}
    return queued(gpus, draw, [quota("root", 0.95 * gpus), *soft], weights, load=1.5)


@scenario
def quotas_many(gpus, draw):
    """200 users with 1.5 % each in ten groups with 15 %; few users own most jobs."""
    groups = [quota(f"group-{g}", 0.15 * gpus) for g in range(10)]
    user_quota = max(8, 0.015 * gpus)
    users = [quota(f"user-{u}", user_quota, parent=f"group-{u % 10}") for u in range(200)]
    # a user's number is 200 x^2 for x uniform in 0..1
    weights = {f"user-{u}": (u + 1) ** 0.5 - u**0.5 for u in range(200)}
    return queued(gpus, draw, groups + users, weights, load=1.6)


@scenario
def one_org(gpus, draw):
    """All jobs in one queue that may use 60 % of the cluster."""
    return queued(gpus, draw, [quota("org", 0.6 * gpus)], {"org": 1})


@scenario
def uplinks(gpus, draw):
    """Racks of 32 GPUs at 50 Gbit/s, pods at 200; gangs send in rings or to two servers."""
    cluster = Cluster.uniform(gpus, rack=4, pod=64, rack_gbps=50, pod_gbps=200)

    def make():
        size = draw.weighted({8: 1, 16: 2, 32: 1, 64: 2, 128: 1})
        entry = gang(size)
        if size == 8:
            return entry
        if draw.random() < 0.6:
            entry["communication"] = {"pattern": "ring", "gbps": draw.choice([5, 12.5, 25, 40])}
            return entry
        entry["tasks"][0]["shape"] = "worker"
        entry["tasks"].append(task(count=2, cores=4, gib=8, shape="server"))
        rate = draw.choice([1, 2, 5])
        entry["communication"] = {"pattern": "ps", "gbps": rate, "servers": "server"}
        return entry

    return Instance(cluster, draw.values(draw.jobs(1.3 * gpus, make)))

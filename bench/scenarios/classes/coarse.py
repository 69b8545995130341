# SPDX-License-Identifier: Apache-2.0
"""Few gangs, each a large share of the cluster, of its pod or of its quota."""
from classes.limits import quota
from classes.registry import scenario
from classes.running import Devices
from instance import Cluster, Instance, gang

MOST = 24  # jobs that wait


def _gangs(draw, gpus, sizes, load, **keys):
    """Gangs of these sizes, at most half of the cluster each, until they ask for load x gpus."""
    sizes = [s for s in sizes if 2 * s <= gpus] or [8]
    jobs = draw.jobs(load * gpus, lambda: gang(draw.choice(sizes), **keys))[:MOST]
    return draw.values(jobs, 0.8, 1.25)


def _sizes(gpus, parts):
    """Multiples of 64 GPUs near these parts of the cluster."""
    return sorted({max(64, round(gpus * part / 64) * 64) for part in parts})


PARTS = [0.02, 0.03, 0.04, 0.06, 0.09, 0.12, 0.18, 0.25]


@scenario
def coarse_cluster(gpus, draw):
    """At most 24 gangs of 2 to 25 % of the cluster, anywhere."""
    return Instance(Cluster.uniform(gpus), _gangs(draw, gpus, _sizes(gpus, PARTS), 1.4))


@scenario
def coarse_pods(gpus, draw):
    """At most 24 gangs of a quarter to nine tenths of a pod, confined to a pod; eight pods."""
    cluster = Cluster.uniform(gpus, pod=max(8, gpus // 64))
    sizes = _sizes(gpus, [part / 8 for part in (0.25, 0.3, 0.35, 0.45, 0.6, 0.75, 0.9)])
    return Instance(cluster, _gangs(draw, gpus, sizes, 1.3, domain="pod"))


@scenario
def coarse_held(gpus, draw):
    """As coarse_pods; pinned jobs hold up to half of each pod."""
    instance = coarse_pods(gpus, draw)
    cluster, devices = instance.cluster, Devices(instance.cluster)
    held = []
    for first in range(0, len(cluster.machines), cluster.pod):
        machines = draw.randint(0, cluster.pod // 2)
        if machines:
            held.append(gang(8 * machines, domain="pod", value=8.0 * machines))
            devices.first_fit(held[-1], range(first, first + machines), pinned=True)
    return Instance(cluster, held + instance.jobs)


@scenario
def coarse_quotas(gpus, draw):
    """At most 24 gangs of 2 to 25 % of the cluster in three queues of 30 to 45 % of it."""
    cluster = Cluster.uniform(gpus)
    cluster.queues = [quota(f"q{k}", gpus * part) for k, part in enumerate((0.3, 0.37, 0.45))]
    jobs = _gangs(draw, gpus, _sizes(gpus, PARTS), 1.6)
    for entry in jobs:
        entry["queue"] = f"q{draw.randrange(3)}"
    return Instance(cluster, jobs)


@scenario
def coarse_width(gpus, draw):
    """As coarse_pods, but a gang over several pods keeps 0.8 of its value."""
    cluster = Cluster.uniform(gpus, pod=max(8, gpus // 64))
    sizes = _sizes(gpus, [part / 8 for part in (0.3, 0.45, 0.6, 0.75, 0.9, 1.25, 1.5)])
    return Instance(cluster, _gangs(draw, gpus, sizes, 1.3, width_factor={"pod": 1, "cluster": 0.8}))


@scenario
def coarse_types(gpus, draw):
    """At most 24 gangs of 2 to 25 % of the cluster; half of the GPUs are 0.6 as fast."""
    cluster = Cluster.uniform(gpus)
    slow = {**cluster.classes["node"], "gpu_type": "V100"}
    cluster.classes["slow"] = slow
    half = len(cluster.machines) // 2
    cluster.machines[half:] = ["slow"] * (len(cluster.machines) - half)
    jobs = _gangs(draw, gpus, _sizes(gpus, PARTS), 1.4)
    for entry in jobs:
        entry["speed"] = {"A100": 1, "V100": draw.choice([0.5, 0.6, 0.8])}
    return Instance(cluster, jobs)

# SPDX-License-Identifier: Apache-2.0
"""Gangs that are large for a domain, or whose tasks do not divide a machine."""
from classes.registry import scenario
from classes.usual import plain
from instance import Cluster, Instance, gang, job, task


@scenario
def llm_gangs(gpus, draw):
    """Half of the jobs train on 256 to 8,192 GPUs, at most half the cluster; values fall with width."""
    sizes = {256: 1, 512: 2, 1024: 2, 2048: 1, 4096: 1, 8192: 1}
    sizes = {s: w for s, w in sizes.items() if 2 * s <= gpus} or {gpus // 2: 1}

    def make():
        if draw.random() < 0.5:
            factors = {"rack": 1, "pod": 0.97, "cluster": 0.9}
            return gang(draw.choice([8, 16, 32, 64]), width_factor=factors)
        size = draw.weighted(sizes)
        domain = "pod" if size <= 512 else "cluster"
        return gang(size, domain=domain, width_factor={"pod": 0.97, "cluster": 0.85})

    return plain(gpus, draw, make, load=1.4, low=0.8, high=1.6)


@scenario
def bigger_than_pod(gpus, draw):
    """Pods of 256 GPUs, gangs up to three of them; a gang over several pods keeps 0.8 of its value."""
    sizes = [8, 16, 64, 320, 384, 512, 640, 768]
    factors = {"pod": 1, "cluster": 0.8}
    jobs = draw.jobs(1.3 * gpus, lambda: gang(draw.choice(sizes), width_factor=factors))
    return Instance(Cluster.uniform(gpus, pod=32), draw.values(jobs))


@scenario
def odd_gangs(gpus, draw):
    """Gangs of 24 to 48 GPUs in one rack of 64, of 96 and 192 in one pod of 1,024."""
    sizes = {8: 1, 24: 2, 40: 1, 48: 2, 96: 2, 192: 1}

    def make():
        size = draw.weighted(sizes)
        return gang(size, domain="rack" if size <= 48 else "pod")

    return plain(gpus, draw, make)


@scenario
def tensor6(gpus, draw):
    """Tasks of 6 GPUs on machines of 8; too few tasks of 1 to 4 to fill the rest."""

    def make():
        if draw.random() < 0.7:
            return job(task(6, draw.choice([1, 2, 4, 8, 16])))
        return job(task(draw.weighted({1: 1, 2: 2, 3: 1, 4: 1}), draw.weighted({1: 2, 2: 1})))

    return plain(gpus, draw, make, load=1.4)


@scenario
def tensor_odd(gpus, draw):
    """Gangs of up to 16 tasks of 3 or 5 GPUs on machines of 8; values differ by a tenth."""

    def make():
        return job(task(draw.choice([3, 5]), draw.choice([1, 4, 8, 16])))

    return plain(gpus, draw, make, low=0.9, high=1.1)


@scenario
def domain_mix(gpus, draw):
    """As many jobs confined to a machine, a rack, a pod as free ones; two tasks and more each."""
    most = {"machine": 8, "rack": 64, "pod": 512, "cluster": 512}  # GPUs of a job

    def make():
        domain = draw.choice(list(most))
        size = draw.randint(1, 4)
        part = draw.weighted({1: 2, 0.5: 1, 0.2: 1, 0.1: 1})
        return job(task(size, draw.randint(2, max(2, int(part * most[domain]) // size))), domain=domain)

    return plain(gpus, draw, make)

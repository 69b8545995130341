# SPDX-License-Identifier: Apache-2.0
"""One plain cluster, and what its jobs are worth: tails, tiers, load."""
from classes.registry import register, scenario
from classes.usual import usual_jobs
from instance import Cluster, Instance, gang, gpus_of


def valued(name, text, value):
    """A class of usual jobs whose value is value(GPUs, draw)."""

    def make(gpus, draw):
        cluster = Cluster.uniform(gpus)
        jobs = usual_jobs(cluster, draw)
        for entry in jobs:
            entry["value"] = round(max(1e-6, value(gpus_of(entry), draw)), 6)
        return Instance(cluster, jobs)

    make.__doc__ = text
    register(name, make)


valued("values_heavy", "Lognormal values per GPU, sigma 2.", lambda n, draw: n * draw.lognormvariate(0, 2))
valued("values_inverse", "The larger a job, the less it is worth: 1/GPUs.", lambda n, draw: 1 / n)
valued("values_equal", "Every job is worth 1.", lambda n, draw: 1)
valued("values_big", "Large jobs are worth more: GPUs^1.5.", lambda n, draw: n**1.5)
valued("values_small", "Small jobs are worth more: GPUs^0.7, within a quarter.",
       lambda n, draw: n**0.7 * draw.uniform(0.8, 1.25))
valued("values_weight1", "Every GPU is worth 1.", lambda n, draw: n)


def outlier(name, part):
    def make(gpus, draw):
        cluster = Cluster.uniform(gpus)
        jobs = draw.values(usual_jobs(cluster, draw))
        dearest = round(part * sum(entry["value"] for entry in jobs), 4)
        return Instance(cluster, [*jobs, gang(1, value=dearest)])

    make.__doc__ = f"Usual jobs, and one of 1 GPU that is worth {part} of all others together."
    register(name, make)


outlier("values_outlier1", 1)
outlier("values_outlier01", 0.1)
outlier("values_outlier001", 0.01)


@scenario
def values_tiers(gpus, draw):
    """Three tiers: a tenth of the jobs is worth 1,000 a GPU, three tenths 30, the others 1."""
    cluster = Cluster.uniform(gpus)
    jobs = draw.values(usual_jobs(cluster, draw), 0.9, 1.1)
    for entry in jobs:
        entry["value"] = round(entry["value"] * draw.weighted({1000: 1, 30: 3, 1: 6}), 6)
    return Instance(cluster, jobs)


def loaded(percent):
    def make(gpus, draw):
        cluster = Cluster.uniform(gpus)
        return Instance(cluster, draw.values(usual_jobs(cluster, draw, percent / 100)))

    make.__doc__ = f"Usual jobs that ask for {percent} % of the cluster."
    register(f"load{percent:03}", make)


for percent in (80, 100, 102, 110, 200, 1000):
    loaded(percent)

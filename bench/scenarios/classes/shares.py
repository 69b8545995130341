# SPDX-License-Identifier: Apache-2.0
"""Shares of GPUs: replicas of services, slices."""
from classes.registry import scenario
from classes.usual import plain
from instance import Cluster, Instance, gang, job, task


def share_or_gpu(milli, count=1, **keys):
    """Tasks of so many thousandths; 1,000 is a whole GPU."""
    return task(1, count, **keys) if milli == 1000 else task(milli=milli, count=count, **keys)


@scenario
def replicas_quarter(gpus, draw):
    """Services of 2 to 64 replicas of a quarter GPU, and training gangs up to 32 GPUs."""

    def make():
        if draw.random() < 0.8:
            return job(task(milli=250, count=draw.randint(2, 64)))
        return gang(draw.choice([1, 2, 4, 8, 16, 32]))

    return plain(gpus, draw, make)


@scenario
def replicas_only(gpus, draw):
    """Services of 2 to 16 replicas of 0.1 to 0.9 GPUs, and nothing else."""
    shares = [100, 200, 300, 400, 500, 600, 700, 900]
    return plain(gpus, draw, lambda: job(task(milli=draw.choice(shares), count=draw.randint(2, 16))))


@scenario
def replicas_gangs(gpus, draw):
    """Services of up to 32 replicas with 6 to 16 cores a GPU beside gangs of whole machines."""

    def make():
        if draw.random() >= 0.85:
            return gang(draw.choice([8, 16, 32, 64]))
        milli = draw.choice([200, 300, 450, 600])
        cores = milli * draw.choice([6, 10, 16]) / 1000
        return job(task(milli=milli, count=draw.randint(2, 32), cores=cores))

    return plain(gpus, draw, make)


SLICES = {142: 2, 285: 2, 428: 1, 571: 1, 1000: 1}  # thousandths of 1, 2, 3, 4 and 7 slices


@scenario
def mig7(gpus, draw):
    """GPUs of seven slices; tasks of one slice to all seven, some jobs with up to 8 tasks."""

    def make():
        return job(share_or_gpu(draw.weighted(SLICES), draw.weighted({1: 3, 2: 1, 4: 1, 8: 1})))

    return Instance(Cluster.uniform(gpus, gpu_slices=7), draw.values(draw.jobs(1.3 * gpus, make)))


@scenario
def mig7_single(gpus, draw):
    """GPUs of seven slices; single tasks, whose values differ by a tenth."""
    jobs = draw.jobs(1.2 * gpus, lambda: job(share_or_gpu(draw.choice(list(SLICES)))))
    return Instance(Cluster.uniform(gpus, gpu_slices=7), draw.values(jobs, 0.9, 1.1))

# SPDX-License-Identifier: Apache-2.0
"""The jobs of most classes: one task up to a machine, gangs of whole machines beyond."""
from instance import Cluster, Instance, gang

SIZES = {1: 40, 2: 15, 4: 15, 8: 15, 16: 6, 32: 5, 64: 3, 128: 1}  # GPUs: parts in 100


def usual_jobs(cluster, draw, load=1.3, sizes=None):
    """Jobs without a value that ask for `load` times the cluster's GPUs."""
    weights = sizes or SIZES
    return draw.jobs(load * cluster.gpus(), lambda: gang(draw.weighted(weights)))


def plain(gpus, draw, make, load=1.3, **values):
    """Uniform machines; jobs of `make` with values per GPU of `values` (0.5 to 2)."""
    return Instance(Cluster.uniform(gpus), draw.values(draw.jobs(load * gpus, make), **values))

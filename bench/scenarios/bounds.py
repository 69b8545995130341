# SPDX-License-Identifier: Apache-2.0
"""A bound of the objective that owes nothing to Berth."""
from instance import gpus_of


def free_gpus(cluster, jobs):
    """GPUs of machines in service, without foreign content and pinned jobs."""
    foreign = {}  # GPUs that no plan may use, by machine
    for state in cluster.states:
        ids = state["ids"] if isinstance(state["ids"], list) else [state["ids"]]
        held = sum(g.get("milli", 1000) for g in state.get("used", {}).get("gpus", [])) / 1000
        foreign |= dict.fromkeys(ids, held if "used" in state else None)
    pinned = sum(gpus_of(j) for j in jobs if j.get("running", {}).get("pinned"))
    total = -pinned
    for m in range(len(cluster.machines)):
        gone = foreign.get(cluster.machine_id(m), 0)
        total += cluster.gpus_of(m) - (cluster.gpus_of(m) if gone is None else gone)
    return total


def knapsack_bound(instance):
    """Optimum of the fractional knapsack (Dantzig 1957): GPUs are the only resource, a job earns its
    value on its best type, and the last job may be split. No limit and no place counts.

    Pinned jobs on machines out of service would count twice; no class has them.
    """
    left = free_gpus(instance.cluster, instance.jobs)
    movable = [j for j in instance.jobs if not j.get("running", {}).get("pinned")]
    sized = [(j["value"] * max(j.get("speed", {"any": 1}).values()), gpus_of(j)) for j in movable]
    bound = 0.0
    for value, gpus in sorted(sized, key=lambda item: item[0] / item[1], reverse=True):
        part = min(1.0, left / gpus)
        bound += value * part
        left -= gpus * part
        if left <= 0:
            break
    return bound

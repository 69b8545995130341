# SPDX-License-Identifier: Apache-2.0
"""What a scenario is made of: a cluster, its jobs and, where it is known, their optimum.

Jobs are dictionaries with the keys of jobs.jsonl (docs/formats.md).
"""
import dataclasses
import json
import math
import random

GPUS_PER_MACHINE = 8
CORES_PER_GPU, GIB_PER_GPU = 12, 96  # of a machine, unless its class says otherwise


def machine_class(gpus, gpu_type="A100", cores=None, gib=None, **keys):
    """An entry of `classes:`."""
    entry = {
        "cpu_milli": 1000 * (gpus * CORES_PER_GPU if cores is None else cores),
        "memory_mib": 1024 * (gpus * GIB_PER_GPU if gib is None else gib),
        **keys,
    }
    return entry | {"gpu_type": gpu_type, "gpus": gpus} if gpus else entry


@dataclasses.dataclass
class Cluster:
    """Machines in the order of their numbers; racks and pods are consecutive runs of machines."""

    classes: dict  # entry of `classes:` by name
    machines: list  # name of each machine's class
    rack: int = 8  # machines of a rack
    pod: int = 128  # machines of a pod, a multiple of `rack`
    rack_gbps: float | None = None  # uplinks; None: no limit
    pod_gbps: float | None = None
    queues: list = dataclasses.field(default_factory=list)
    states: list = dataclasses.field(default_factory=list)

    @staticmethod
    def uniform(gpus, rack=8, pod=128, rack_gbps=None, pod_gbps=None, **keys):
        """Machines of one class with 8 GPUs each."""
        machines = ["node"] * (gpus // GPUS_PER_MACHINE)
        classes = {"node": machine_class(GPUS_PER_MACHINE, **keys)}
        return Cluster(classes, machines, rack, pod, rack_gbps, pod_gbps)

    def gpus_of(self, machine):
        return self.classes[self.machines[machine]].get("gpus", 0)

    def gpus(self):
        return sum(map(self.gpus_of, range(len(self.machines))))

    def machine_id(self, machine):
        return f"m{machine:06d}"

    def rack_id(self, machine):
        return f"rack-{machine // self.rack}"

    def pod_id(self, machine):
        return f"pod-{machine // self.pod}"

    def rack_ids(self):
        return [self.rack_id(m) for m in range(0, len(self.machines), self.rack)]

    def write(self, path):
        with open(path, "w") as out:
            out.write("schema: 1\nclasses:\n")
            for name, entry in self.classes.items():
                out.write(f"  {name}: {json.dumps(entry)}\n")
            out.write("pods:\n")
            for first in range(0, len(self.machines), self.pod):
                self._write_pod(out, first)
            for key, entries in (("queues", self.queues), ("machine_states", self.states)):
                if entries:
                    out.write(f"{key}:\n" + "".join(f"  - {json.dumps(e)}\n" for e in entries))

    def _write_pod(self, out, first):
        link = {"uplink_gbps": self.pod_gbps} if self.pod_gbps else {}
        racks = []
        end = min(first + self.pod, len(self.machines))
        for start in range(first, end, self.rack):
            members = range(start, min(start + self.rack, end))
            machines = [{"ids": self.machine_id(m), "class": self.machines[m]} for m in members]
            up = {"uplink_gbps": self.rack_gbps} if self.rack_gbps else {}
            racks.append({"id": self.rack_id(start), **up, "machines": machines})
        out.write(f"  - {json.dumps({'id': self.pod_id(first), **link})[:-1]}, \"racks\": [\n")
        out.write(",\n".join("      " + json.dumps(rack) for rack in racks) + "]}\n")


def task(gpus=0, count=1, cores=None, gib=None, milli=0, **keys):
    """An entry of `tasks`: 6 cores and 48 GiB a GPU unless told otherwise."""
    size = gpus + milli / 1000
    entry = {
        "count": count,
        "cpu_milli": int(1000 * (6 * size if cores is None else cores)),
        "memory_mib": int(1024 * (48 * size if gib is None else gib)),
        **keys,
    }
    if milli:
        entry["gpu_milli"] = milli
    elif gpus:
        entry["gpus"] = gpus
    return entry


def job(*tasks, **keys):
    return {"tasks": list(tasks), **keys}


def gang(gpus, **keys):
    """Whole machines of 8 GPUs; one task when it is smaller than a machine."""
    whole = gpus > GPUS_PER_MACHINE
    one = task(GPUS_PER_MACHINE, gpus // GPUS_PER_MACHINE) if whole else task(gpus)
    return job(one, **keys)


def gpus_of(entry):
    """GPUs that a job asks for."""
    return sum(t["count"] * (t.get("gpus", 0) + t.get("gpu_milli", 0) / 1000) for t in entry["tasks"])


@dataclasses.dataclass
class Instance:
    cluster: Cluster
    jobs: list
    optimum: float | None = None  # objective of a best plan, when it is known by construction

    def write(self, folder):
        """cluster.yaml and jobs.jsonl; jobs are named by their order."""
        folder.mkdir(parents=True, exist_ok=True)
        self.cluster.write(folder / "cluster.yaml")
        with open(folder / "jobs.jsonl", "w") as out:
            for number, entry in enumerate(self.jobs):
                out.write(json.dumps({"id": f"j{number}", **entry}) + "\n")


class Draw(random.Random):
    """Random choices of one instance."""

    def jobs(self, gpus, make):
        """Jobs until they ask for so many GPUs."""
        drawn, asked = [], 0.0
        while asked < gpus:
            drawn.append(make())
            asked += gpus_of(drawn[-1])
        return drawn

    def values(self, jobs, low=0.5, high=2.0):
        """Gives each job a value: its GPUs times a factor that is log-uniform between both."""
        for entry in jobs:
            factor = math.exp(self.uniform(math.log(low), math.log(high)))
            entry["value"] = round(gpus_of(entry) * factor, 6)
        return jobs

    def weighted(self, weights):
        """A key, drawn by its weight."""
        return self.choices(list(weights), list(weights.values()))[0]

    def shuffled(self, items):
        items = list(items)
        self.shuffle(items)
        return items

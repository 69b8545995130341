#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/schema: what the schemas of the three files take the readers take, and each key that a
schema does not know or whose value is of another kind the readers refuse too."""
import copy
import json
import pathlib
import sys

from program import ProgramTest, main

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"
CLUSTER = {
    "schema": 1,
    "classes": {"g": {"gpu_type": "A", "gpus": 4, "cpu_milli": 64000, "memory_mib": 65536,
                      "nic_mbps": 1000, "power_w": 4000, "gpu_slices": 7},
                "u": {"cpu": 1.5, "memory": "1.5TiB"}},
    "pods": [{"id": "p", "uplink_gbps": 400, "power_w": 100000.5, "racks": [
        {"id": "r", "uplink_gbps": 100, "power_w": 50000,
         "machines": [{"ids": "m[1-4]", "class": "g"}, {"ids": ["n1", "n[2-3]"], "class": "g"}]}]}],
    "queues": [{"id": "all", "gpu_quota": 20, "gpu_hours": 1000},
               {"id": "q", "parent": "all", "gpu_quota": 10, "over_quota_penalty": 0.5}],
    "spare": [{"gpu_type": "A", "pod": "p", "gpus": 1, "penalty": 0.25}],
    "licenses": {"matlab": 4},
    "machine_states": [{"ids": "m1", "state": "drained"},
                       {"ids": ["m2"], "used": {"cpu": 0.5, "memory": "1GiB", "gpus": [{"index": 0, "milli": 400}]}}],
    "windows": [{"machines": "m3", "from": 10, "to": 20, "kind": "maintenance"},
                {"machines": ["m4"], "from": 0, "to": 9, "kind": "reservation",
                 "for": {"queues": ["q"], "jobs": ["a"]}}]}
JOBS = [
    {"id": "a", "name": "train", "user": "ada", "licenses": {"matlab": 2}, "arrival": 3, "queue": "q", "priority": -2, "weight": 1.5, "required": False,
     "tasks": [{"shape": "worker", "count": 2, "gpus": 1, "cpu_milli": 10, "memory_mib": 1,
                "nic_mbps": 1, "power_w": 1, "k_of": 1}, {"shape": "server", "cpu_milli": 1}],
     "gpu_types": ["A"], "speed": {"A": 1.5}, "domain": "pod",
     "home": {"rack": "r", "factor": {"rack": 1, "pod": 0.9, "cluster": 0.5}},
     "width_factor": {"pod": 0.9, "cluster": 0.8}, "max_tasks_per": {"machine": 2},
     "min_domains": {"machine": 1}, "labels": ["x"], "not_with": ["y"],
     "communication": {"pattern": "ps", "gbps": 2.5, "servers": "server"},
     "duration": 60, "limit": 100, "not_before": 5, "deadline": 100000,
     "utility": {"linear": [[0, 1], [100, 0.5]]}, "preemptible": True, "checkpoint_every": 10,
     "restart_cost": 5},
    {"id": "b", "value": 3.5, "exclusive": "machine", "tasks": [{"shape": "w", "gpu_milli": 500}],
     "after": ["a"], "duration": 9, "utility": {"steps": [[0, 1]]}},
    {"id": "c", "tasks": [{"shape": "w", "gpus": 1}], "duration": 50,
     "configurations": [{"counts": {"w": 2}, "speed": 1.5, "value": 4}]},
    {"id": "d", "tasks": [{"shape": "w", "gpus": 1, "cpu": 0.5, "memory": "64MiB"}],
     "running": {"tasks": [{"shape": "w", "machine": "n1", "gpus": [{"index": 0}]}],
                 "stop_cost": 1, "move_cost": 0.5, "since": 0}}]


def places(value, path=()):
    """Paths of all members of objects in a value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        if isinstance(value, dict):
            yield (*path, key)
        yield from places(below, (*path, key))


def changed(value, path, change):
    result = copy.deepcopy(value)
    at = result
    for key in path[:-1]:
        at = at[key]
    change(at, path[-1])
    return result


def misspell(at, key):
    at[key + "_x"] = at.pop(key)


def put_list(at, key):
    at[key] = [[]]


class Schemas(ProgramTest):
    def schema(self, name):
        content = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(content)
        return jsonschema.Draft202012Validator(content)

    def reader_takes(self, cluster, jobs):
        self.write("c.yaml", json.dumps(cluster))
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        done = self.plan("--quiet", out="plan.json")
        self.assertIn(done.code, (0, 2, 5), done)
        return done.code != 2, done

    def test_all_keys_are_taken_and_the_plan_is_valid(self):
        self.schema("cluster").validate(CLUSTER)
        for job in JOBS:
            self.schema("jobs").validate(job)
        taken, done = self.reader_takes(CLUSTER, JOBS)
        self.assertTrue(taken, done)
        self.schema("plan").validate(self.read_plan())

    def refused_by_both(self, schema, value, read):
        """Free names (of classes, types, shapes) are no keys: there both take a misspelt one."""
        checked = 0
        for path in places(value):
            for change in (misspell, put_list):
                wrong = changed(value, path, change)
                if schema.is_valid(wrong):
                    self.assertIs(change, misspell, path)
                    self.assertIn(path[-2], ("classes", "speed", "counts", "licenses"), path)
                    continue
                taken, done = read(wrong)
                self.assertFalse(taken, f"{path} {change.__name__}{done}")
                checked += 1
        return checked

    def test_what_the_schema_of_clusters_refuses_the_reader_refuses(self):
        count = self.refused_by_both(self.schema("cluster"), CLUSTER,
                                     lambda wrong: self.reader_takes(wrong, JOBS))
        self.assertGreater(count, 80)

    def test_what_the_schema_of_jobs_refuses_the_reader_refuses(self):
        for i, job in enumerate(JOBS):
            def read(wrong, i=i):
                return self.reader_takes(CLUSTER, [*JOBS[:i], wrong, *JOBS[i + 1:]])
            self.assertGreater(self.refused_by_both(self.schema("jobs"), job, read), 8)


if __name__ == "__main__":
    main()

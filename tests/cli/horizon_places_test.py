#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power budgets, uplinks and spare GPUs in time: tiny cases against all plans, and every plan in which
one job is moved against a count of each second."""
import copy
import itertools
import json
import random

from program import ProgramTest, main

MACHINES = 4  # of 2 GPUs, two in each rack
GPUS = 2
RACK_POWER, POD_POWER, UPLINK, SPARE = 500, 800, 10, 1


def cluster(racks=2, each=2, rack=f"uplink_gbps: {UPLINK}, power_w: {RACK_POWER},",
            pod=f"power_w: {POD_POWER},", more=""):
    rows = ", ".join(f"{{id: r{r}, {rack} machines: [{{ids: \"m[{r * each}-{r * each + each - 1}]\","
                     " class: a}]}" for r in range(racks))
    return (f"schema: 1\nclasses: {{a: {{gpu_type: A, gpus: {GPUS}}}}}\n{more}"
            f"pods: [{{id: p, {pod} racks: [{rows}]}}]\n")


def job(name, count, gpus, power, seconds, gbps=0, **keys):
    traffic = {"communication": {"pattern": "ring", "gbps": gbps}} if gbps else {}
    return {"id": name, "duration": seconds, **traffic, **keys,
            "tasks": [{"shape": "w", "count": count, "gpus": gpus, "power_w": power}]}


class Use:
    """A job whose tasks are on these machines in [start, end)."""

    def __init__(self, job, machines, start, end):
        self.job, self.machines, self.start, self.end = job, machines, start, end
        self.task = job["tasks"][0]

    def racks(self):
        return {m // 2 for m in self.machines}


def exceeded(uses, with_gpus):
    """True when a limit of a rack or the pod, or the GPUs of a machine, do not suffice at some
    second."""
    for second in sorted({u.start for u in uses}):
        now = [u for u in uses if u.start <= second < u.end]
        power, traffic, gpus = [0, 0], [0, 0], [0] * MACHINES
        for use in now:
            for m in use.machines:
                power[m // 2] += use.task["power_w"]
                gpus[m] += use.task["gpus"]
            for rack in use.racks() if len(use.racks()) > 1 else ():
                traffic[rack] += use.job.get("communication", {}).get("gbps", 0)
        if max(power) > RACK_POWER or sum(power) > POD_POWER or max(traffic) > UPLINK:
            return True
        if sum(gpus) > MACHINES * GPUS - SPARE or (with_gpus and max(gpus) > GPUS):
            return True
    return False


def best(jobs, end, uses):
    """The most value of any plan, by enumeration."""
    if not jobs:
        return 0
    one = jobs[0]
    most = best(jobs[1:], end, uses)
    for start in range(end - one["duration"] + 1):
        for where in itertools.combinations_with_replacement(range(MACHINES),
                                                             one["tasks"][0]["count"]):
            more = [*uses, Use(one, where, start, start + one["duration"])]
            if not exceeded(more, True):
                most = max(most, one["value"] + best(jobs[1:], end, more))
    return most


class HorizonPlacesTest(ProgramTest):
    def uses_of(self, plan, jobs):
        named = {job["id"]: job for job in jobs}
        return [Use(named[p["job"]], [int(t["machine"][1:]) for t in p["tasks"]], p["start"], p["end"])
                for p in plan["placements"]]

    def random_jobs(self, draw):
        held = [{"shape": "w", "machine": "m0", "gpus": [{"index": 0, "milli": 1000}]}]
        jobs = [job("run", 1, 1, 200, 9, value=0, running={"tasks": held, "remaining": 2})]
        for i in range(3):
            count = draw.choice([1, 2, 2])
            jobs.append(job(f"j{i}", count, draw.choice([1, 1, 2]), draw.choice([100, 150, 250]),
                            draw.randint(1, 3), draw.choice([0, 6, 10, 12]) if count > 1 else 0,
                            value=draw.randint(1, 9)))
        return jobs

    def moved(self, plan):
        """The plan with one job at another time, or one of its tasks on another machine."""
        for p, placed in enumerate(plan["placements"]):
            if placed["job"] == "run":
                continue
            for shift in range(-placed["start"], 5 - placed["end"]):
                other = copy.deepcopy(plan)
                other["placements"][p]["start"] += shift
                other["placements"][p]["end"] += shift
                yield other
            for t, m in itertools.product(range(len(placed["tasks"])), range(MACHINES)):
                other = copy.deepcopy(plan)
                other["placements"][p]["tasks"][t]["machine"] = f"m{m}"
                yield other

    def test_limits_of_racks_and_pods_at_every_moment(self):
        self.write("c.yaml", cluster(more="spare: [{gpu_type: A, gpus: 1, penalty: 9}]\n"))
        lost, verdicts = 0, {True: 0, False: 0}
        for seed in range(8):
            jobs = self.random_jobs(random.Random(seed))
            with self.subTest(seed=seed):
                plan = self.planned_in_time(jobs, "4")
                uses = self.uses_of(plan, jobs)
                self.assertFalse(exceeded(uses, True))
                most = best(jobs[1:], 4, [u for u in uses if u.job["id"] == "run"])
                self.assertLessEqual(plan["objective"], most + 1e-9)
                self.assertGreaterEqual(plan["upper_bound"], most - 1e-6)
                lost += most - plan["objective"]
                for moved in self.moved(plan) if seed < 3 else ():
                    self.write("bad.json", json.dumps(moved))
                    out = self.check(plan="bad.json").out
                    bad = exceeded(self.uses_of(moved, jobs), False)
                    self.assertEqual(bad, "fault limit_exceeded:" in out, out)
                    verdicts[bad] += 1
        self.assertLessEqual(lost, 1)
        self.assertTrue(min(verdicts.values()) > 5, verdicts)

    def test_a_ring_stays_in_a_rack_or_waits_for_the_uplink(self):
        self.write("c.yaml", cluster(pod="", rack="uplink_gbps: 10,"))
        ring = [job(f"g{i}", 6, 1, 0, 10, gbps=6) for i in range(2)]  # over both racks, one at a time
        small = [job("s", 4, 1, 0, 10, gbps=12)]  # no uplink carries it
        plan = self.planned_in_time([*ring, *small], "1h", "--objective", "flow")
        starts = sorted(p["start"] for p in plan["placements"])
        self.assertEqual(starts, [0, 10, 20])
        inside = next(p for p in plan["placements"] if p["job"] == "s")
        self.assertEqual(len({int(t["machine"][1:]) // 2 for t in inside["tasks"]}), 1)

    def test_servers_and_workers_load_uplinks_by_pairs(self):
        # rack r1 has one worker beside four, with a server: 1 x 1 + ... pairs on each uplink
        self.write("c.yaml", cluster(pod="", rack="uplink_gbps: 4,"))
        gang = {"id": "g", "duration": 10, "communication": {"pattern": "ps", "gbps": 2, "servers": "s"},
                "tasks": [{"shape": "w", "count": 5, "gpus": 1}, {"shape": "s", "count": 1, "gpus": 1}]}
        plan = self.planned_in_time([gang, dict(gang, id="h", value=3)], "1h", "--objective", "flow")
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 10])
        for placed in plan["placements"]:
            rack = [int(t["machine"][1:]) // 2 for t in placed["tasks"]]
            home = next(r for t, r in zip(placed["tasks"], rack) if t["shape"] == "s")
            self.assertLessEqual(2 * sum(r != home for r in rack), 4)

    def test_running_jobs_and_maintenance_count_until_they_end(self):
        self.write("c.yaml", cluster(pod="power_w: 400,", rack="",
                                     more="machine_states: [{ids: m3, state: up, "
                                          "used: {power_w: 50, gpus: []}}]\n"))
        held = [{"shape": "w", "machine": "m0", "gpus": [{"index": 0, "milli": 1000}]}]
        run = job("run", 1, 1, 200, 99, running={"tasks": held, "remaining": 7, "pinned": True})
        plan = self.planned_in_time([run, job("a", 1, 1, 200, 5), job("b", 1, 1, 150, 5)], "1h",
                            "--objective", "flow")
        self.assertEqual({p["job"]: p["start"] for p in plan["placements"]}, {"a": 7, "b": 0})
        self.write("c.yaml", cluster(pod="", rack="", more="spare: [{gpu_type: A, gpus: 2, penalty: 1}]\n"
                                     "windows: [{machines: m0, from: 5, to: 9, kind: maintenance}]\n"))
        plan = self.planned_in_time([job(f"j{i}", 1, 2, 0, 4) for i in range(3)], "1h",
                            "--objective", "flow")
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 0, 0])
        plan = self.planned_in_time([job(f"j{i}", 1, 2, 0, 6) for i in range(3)], "1h",
                            "--objective", "flow")
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 0, 6])


main()

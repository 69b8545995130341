#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of jobs in plans with a horizon: against all plans of tiny cases, and every plan in which one
task is moved to another machine or GPU against a count second by second."""
import copy
import json
import random

from program import ProgramTest, main

GPUS = 2  # of a machine


def cluster(machines):
    return ("schema: 1\nclasses: {a: {gpu_type: A, gpus: 2, cpu_milli: 8000}}\n"
            f"pods: [{{id: p, racks: [{{id: r, machines: [{{ids: \"m[0-{machines - 1}]\","
            " class: a}]}]}]\n")


def amounts(job):
    """Whole GPUs and thousandths of one GPU of a job of one task."""
    task = job["tasks"][0]
    return task.get("gpus", 0), task.get("gpu_milli", 0)


def apart(one, other):
    """True when the jobs may not be on one machine."""
    if "machine" in (one.get("exclusive"), other.get("exclusive")):
        return True
    return bool(set(one.get("not_with", [])) & set(other.get("labels", []))
                or set(other.get("not_with", [])) & set(one.get("labels", [])))


class Use:
    """A job of one task on GPUs of one machine in [start, end)."""

    def __init__(self, job, machine, devices, start, end):
        self.job, self.machine, self.devices = job, machine, devices
        self.start, self.end = start, end

    def milli(self, device):
        whole, share = amounts(self.job)
        return (1000 if whole else share) if device in self.devices else 0

    def overlaps(self, other):
        return (self.machine == other.machine and self.start < other.end
                and other.start < self.end)


def conflict(uses):
    """True when a GPU is over-full at some second, or jobs share a machine that may not."""
    for i, one in enumerate(uses):
        beside = [other for k, other in enumerate(uses) if k != i and one.overlaps(other)]
        if any(apart(one.job, other.job) for other in beside):
            return True
        for second in range(one.start, one.end):
            now = [u for u in [one, *beside] if u.start <= second < u.end]
            if any(sum(u.milli(d) for u in now) > 1000 for d in one.devices):
                return True
    return False


def choices(job, machines, end):
    whole, _ = amounts(job)
    devices = [(0, 1)] if whole == GPUS else [(d,) for d in range(GPUS)]
    for start in range(end - job["duration"] + 1):
        for machine in range(machines):
            for some in devices:
                yield Use(job, machine, some, start, start + job["duration"])


def best(jobs, machines, end, uses):
    """The most value of any plan, by enumeration."""
    if not jobs:
        return 0
    most = best(jobs[1:], machines, end, uses)
    for use in choices(jobs[0], machines, end):
        if conflict([*uses, use]):
            continue
        most = max(most, jobs[0]["value"] + best(jobs[1:], machines, end, [*uses, use]))
    return most


def running(name, machine, device, milli, remaining, **keys):
    amount = {"gpus": 1} if milli == 1000 else {"gpu_milli": milli}
    held = [{"shape": "worker", "machine": f"m{machine}",
             "gpus": [{"index": device, "milli": milli}]}]
    return {"id": name, "duration": 99, "value": 0, "tasks": [{"shape": "worker", **amount}],
            "running": {"tasks": held, "remaining": remaining}, **keys}


class HorizonKeysTest(ProgramTest):
    def uses_of(self, plan, jobs):
        named = {job["id"]: job for job in jobs}
        uses = []
        for placed in plan["placements"]:
            task = placed["tasks"][0]
            devices = tuple(gpu["index"] for gpu in task["gpus"])
            uses.append(Use(named[placed["job"]], int(task["machine"][1:]), devices,
                            placed["start"], placed["end"]))
        return uses

    def moved(self, plan):
        """The plan with one task that does not run yet on another machine, or one GPU further."""
        for p, placed in enumerate(plan["placements"]):
            if placed["job"].startswith("run"):
                continue
            for machine in "m0", "m1":
                for step in range(GPUS):
                    other = copy.deepcopy(plan)
                    task = other["placements"][p]["tasks"][0]
                    task["machine"] = machine
                    for gpu in task["gpus"]:
                        gpu["index"] = (gpu["index"] + step) % GPUS
                    yield other

    def expect_judged(self, plan, jobs, faults):
        """The judge and the count of every second agree on every moved plan."""
        verdicts = set()
        for moved in self.moved(plan):
            self.write("bad.json", json.dumps(moved))
            out = self.check(plan="bad.json").out
            bad = conflict(self.uses_of(moved, jobs))
            self.assertEqual(bad, any(f"fault {fault}:" in out for fault in faults), out)
            verdicts.add(bad)
        self.assertEqual(verdicts, {False, True})

    def expect_near_best(self, jobs, machines, end, least):
        plan = self.planned_in_time(jobs, str(end))
        held = [use for use in self.uses_of(plan, jobs) if use.job["id"].startswith("run")]
        most = best([job for job in jobs if "running" not in job], machines, end, held)
        self.assertLessEqual(plan["objective"], most + 1e-9)
        self.assertGreaterEqual(plan["upper_bound"], most - 1e-6)
        self.assertGreaterEqual(plan["objective"], least * most)
        return plan

    def test_shares_of_gpus_beside_whole_ones_and_running_shares(self):
        self.write("c.yaml", cluster(2))
        for seed in range(6):
            draw = random.Random(seed)
            jobs = [running("run0", 0, 0, 400, 2), running("run1", 1, 1, 500, 3)]
            for i in range(5):
                amount = draw.choice([{"gpus": 1}, {"gpus": 2}, {"gpu_milli": 600},
                                      {"gpu_milli": 500}, {"gpu_milli": 300}])
                jobs.append({"id": f"j{i}", "duration": draw.randint(1, 3),
                             "value": draw.randint(1, 9),
                             "tasks": [{"shape": "worker", "count": 1, **amount}]})
            with self.subTest(seed=seed):
                plan = self.expect_near_best(jobs, 2, 4, 0.9)
                if seed < 2:
                    self.expect_judged(plan, jobs, ["device_oversubscribed"])

    def test_shares_share_one_gpu_at_a_time_and_the_bound_counts_thousandths(self):
        self.write("c.yaml", cluster(1))
        jobs = [{"id": f"j{i}", "duration": 10, "value": 1, "tasks": [{"gpu_milli": 400}]}
                for i in range(12)]
        plan = self.planned_in_time(jobs, "20")  # two on a GPU at a time
        self.assertEqual((plan["objective"], len(plan["placements"])), (8, 8))
        self.assertLess(plan["upper_bound"], 10.01)  # 2 GPUs, 20 s, 4 GPU-seconds each
        jobs = [dict(job, tasks=[{"gpu_milli": 250}]) for job in jobs] + [
            {"id": "whole", "duration": 10, "value": 9, "tasks": [{"gpus": 1}]}]
        plan = self.planned_in_time(jobs, "10")
        self.assertEqual(plan["objective"], 9 + 4)
        self.assertAlmostEqual(plan["upper_bound"], 13, 3)

    def test_shares_count_in_quotas_budgets_and_gangs(self):
        self.write("c.yaml", cluster(2).replace(
            "pods:", "queues: [{id: q, gpu_quota: 1}, {id: b, gpu_hours: 1}]\npods:"))
        share = {"duration": 1800, "tasks": [{"gpu_milli": 500}]}
        plan = self.planned_in_time([share | {"id": f"q{i}", "queue": "q"} for i in range(4)], "1h")
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 0, 1800, 1800])
        plan = self.planned_in_time([share | {"id": f"b{i}", "queue": "b"} for i in range(6)], "1h")
        self.assertEqual(len(plan["placements"]), 4)
        gang = {"id": "g", "duration": 10, "tasks": [{"shape": "s", "count": 5, "gpu_milli": 500},
                                                     {"shape": "w", "count": 1, "gpus": 1}]}
        plan = self.planned_in_time([gang, dict(gang, id="h")], "1h", "--objective", "flow")
        self.assertEqual([p["start"] for p in plan["placements"]], [0, 10])

    def test_slices_and_kept_promises(self):
        self.write("c.yaml", cluster(1).replace("gpus: 2,", "gpus: 2, gpu_slices: 3,"))
        jobs = [{"id": f"j{i}", "duration": 10, "tasks": [{"gpu_milli": 340}]} for i in range(5)]
        plan = self.planned_in_time(jobs, "1h", "--objective", "flow")  # two of three slices each
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 0, 10, 10, 20])
        self.write("old.json", json.dumps(plan))
        plan = self.planned_in_time(jobs, "1h", "--objective", "flow", "--keep", "old.json")
        self.assertTrue(all(p["kept"] for p in plan["promises"]))

    def test_exclusive_and_not_with_at_every_moment(self):
        self.write("c.yaml", cluster(2))
        for seed in range(6):
            draw = random.Random(seed)
            jobs = [running("run0", 0, 0, 1000, 2, labels=["x"]), running("run1", 1, 1, 500, 3)]
            for i in range(5):
                keys = draw.choice([{"exclusive": "machine"}, {"labels": ["x"]},
                                    {"labels": ["y"], "not_with": ["x"]}, {"not_with": ["y"]}, {}])
                jobs.append({"id": f"j{i}", "duration": draw.randint(1, 3),
                             "value": draw.randint(1, 9), **keys,
                             "tasks": [{"shape": "worker", "count": 1, "gpus": 1}]})
            with self.subTest(seed=seed):
                plan = self.expect_near_best(jobs, 2, 4, 0.9)
                if seed in (0, 1):
                    self.expect_judged(plan, jobs, ["kept_apart", "device_oversubscribed"])

    def test_jobs_that_are_apart_follow_each_other(self):
        self.write("c.yaml", cluster(1))
        one = {"duration": 10, "tasks": [{"gpus": 1}]}
        plan = self.planned_in_time([one | {"id": "e", "exclusive": "machine"}, one | {"id": "a"},
                             one | {"id": "b"}], "1h", "--objective", "flow")
        starts = {p["job"]: p["start"] for p in plan["placements"]}
        self.assertEqual(starts, {"a": 0, "b": 0, "e": 10})
        pinned = running("run0", 0, 0, 1000, 7, labels=["x"])
        pinned["running"]["pinned"] = True
        plan = self.planned_in_time([pinned, one | {"id": "n", "not_with": ["x"]}], "1h")
        self.assertEqual(plan["placements"][0]["start"], 7)
        plan["placements"][0].update(start=6, end=16)
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault kept_apart: job n on machine m0 beside job run0 at 6; its not_with",
                      self.check(plan="bad.json").out)

    def test_tasks_are_spread_over_machines_racks_and_pods(self):
        racks = ", ".join(f"{{id: r{r}, machines: [{{ids: \"m{r}[0-1]\", class: a}}]}}"
                          for r in range(3))
        self.write("c.yaml", "schema: 1\nclasses: {a: {gpu_type: A, gpus: 2}}\n"
                   f"pods: [{{id: p, racks: [{racks}]}}]\n")
        gang = {"duration": 10, "tasks": [{"shape": "w", "count": 4, "gpus": 1}]}

        def machines(plan, name):
            placed = next(p for p in plan["placements"] if p["job"] == name)
            return [task["machine"] for task in placed["tasks"]]

        for keys, count in [({"max_tasks_per": {"machine": 1}}, lambda m: max(map(m.count, m)) == 1),
                            ({"max_tasks_per": {"rack": 2}},
                             lambda m: max([x[1] for x in m].count(r) for r in "012") == 2),
                            ({"min_domains": {"rack": 3}}, lambda m: len({x[1] for x in m}) == 3),
                            ({"min_domains": {"machine": 4}}, lambda m: len(set(m)) == 4)]:
            with self.subTest(keys=keys):
                jobs = [gang | keys | {"id": f"g{i}"} for i in range(4)]
                plan = self.planned_in_time(jobs, "1h", "--objective", "flow")
                for job in jobs:
                    self.assertTrue(count(machines(plan, job["id"])), plan)
                self.assertLessEqual(max(p["start"] for p in plan["placements"]), 10)  # 3, then 1
        plan = self.planned_in_time([gang | {"id": "g", "max_tasks_per": {"machine": 1}}], "1h")
        task = plan["placements"][0]["tasks"]
        task[0]["machine"], task[0]["gpus"][0]["index"] = task[1]["machine"], 1
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault too_many_together: job g", self.check(plan="bad.json").out)
        plan = self.planned_in_time([gang | {"id": "g", "min_domains": {"rack": 3}}], "1h")
        for t, task in enumerate(plan["placements"][0]["tasks"]):
            task["machine"], task["gpus"][0]["index"] = f"m{t // 2}0", t % 2
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault too_few_domains: job g", self.check(plan="bad.json").out)

    def test_a_job_that_is_due_soon_goes_before_one_that_came_first(self):
        self.write("c.yaml", cluster(2))
        whole = {"tasks": [{"gpus": 2, "count": 2}]}  # the whole cluster
        jobs = [whole | {"id": "long", "duration": 100},
                whole | {"id": "due", "duration": 50, "deadline": 60}]
        for objective in "value", "flow", "makespan":
            with self.subTest(objective=objective):
                plan = self.planned_in_time(jobs, "500", "--objective", objective)
                starts = {p["job"]: p["start"] for p in plan["placements"]}
                self.assertEqual(starts, {"due": 0, "long": 50})


main()

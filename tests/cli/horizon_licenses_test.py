#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Licenses in time: tiny cases against all plans, and every plan in which one job starts at another time
against a count of each second."""
import copy
import itertools
import json
import random

from program import ProgramTest, main

LICENSES = {"x": 3, "y": 1}
END = 5


def exceeded(planned, running=()):
    """True when (job, start, end) take more licenses than there are at a second at which a planned job
    takes one."""
    def taken(uses, name, second):
        return sum(job.get("licenses", {}).get(name, 0) for job, start, end in uses
                   if start <= second < end)

    return any(0 < taken(planned, name, second) > count - taken(running, name, second)
               for name, count in LICENSES.items() for second in range(END))


def best(jobs):
    """The most value of any plan, by enumeration; GPUs suffice for all jobs at once."""
    run, *rest = jobs
    most = 0
    for starts in itertools.product([None, *range(END)], repeat=len(rest)):
        uses = [(job, s, s + job["duration"]) for job, s in zip(rest, starts) if s is not None]
        if all(end <= END for _, _, end in uses) and not exceeded(uses, [(run, 0, 2)]):
            most = max(most, sum(job["value"] for job, _, _ in uses))
    return most


class HorizonLicensesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("c.yaml", "schema: 1\nclasses: {a: {gpu_type: A, gpus: 4}}\n"
                   "pods: [{id: p, racks: [{id: r, machines: [{ids: \"m[0-1]\", class: a}]}]}]\n"
                   "licenses: {x: 3, y: 1}\n")

    def uses_of(self, plan, jobs):
        named = {job["id"]: job for job in jobs}
        return [(named[p["job"]], p["start"], p["end"]) for p in plan["placements"]]

    def random_jobs(self, draw):
        held = [{"shape": "task", "machine": "m0", "gpus": [{"index": 0, "milli": 1000}]}]
        jobs = [{"id": "run", "duration": 9, "value": 0, "tasks": [{"gpus": 1}],
                 "licenses": {"x": draw.randint(1, 4)},  # even more than there are
                 "running": {"tasks": held, "remaining": 2, "pinned": draw.random() < 0.5}}]
        for i in range(4):
            names = draw.choice([["x"], ["y"], ["x", "y"], []])
            jobs.append({"id": f"j{i}", "duration": draw.randint(1, 3), "tasks": [{"gpus": 1}],
                         "value": draw.randint(1, 9),
                         "licenses": {n: draw.randint(1, LICENSES[n]) for n in names}})
        return jobs

    def moved(self, plan):
        for p, placed in enumerate(plan["placements"]):
            for shift in range(-placed["start"], END - placed["end"] + 1):
                if placed["job"] == "run" or shift == 0:
                    continue
                other = copy.deepcopy(plan)
                other["placements"][p]["start"] += shift
                other["placements"][p]["end"] += shift
                yield other

    def test_hold_at_every_moment_beside_running_jobs(self):
        lost, verdicts = 0, {True: 0, False: 0}
        for seed in range(8):
            jobs = self.random_jobs(random.Random(seed))
            with self.subTest(seed=seed):
                plan = self.planned_in_time(jobs, str(END))
                most = best(jobs)
                self.assertLessEqual(plan["objective"], most + 1e-9)
                self.assertGreaterEqual(plan["upper_bound"], most - 1e-6)
                lost += most - plan["objective"]
                for moved in self.moved(plan) if seed < 3 else ():
                    self.write("bad.json", json.dumps(moved))
                    out = self.check(plan="bad.json").out
                    planned = [u for u in self.uses_of(moved, jobs) if u[0]["id"] != "run"]
                    bad = exceeded(planned, [(jobs[0], 0, 2)])
                    self.assertEqual(bad, "fault limit_exceeded:" in out, out)
                    verdicts[bad] += 1
        self.assertLessEqual(lost, 1)
        self.assertTrue(min(verdicts.values()) > 3, verdicts)

    def test_jobs_that_take_one_license_follow_each_other(self):
        jobs = [{"id": f"j{i}", "duration": 10, "tasks": [{"gpus": 1}], "licenses": {"y": 1}}
                for i in range(3)]
        plan = self.planned_in_time(jobs, "1h", "--objective", "flow")
        self.assertEqual(sorted(p["start"] for p in plan["placements"]), [0, 10, 20])
        plan = self.planned_in_time([job | {"licenses": {"x": 2}} for job in jobs] + [
            dict(jobs[0], id="more", licenses={"y": 2})], "1h")
        self.assertEqual([w["job"] for w in plan["waiting"]], ["more"])


main()

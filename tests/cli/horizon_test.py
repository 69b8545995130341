#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans in time: hand-solved and exhaustively solved cases, keys that are refused, planted faults."""
import copy
import itertools
import json
import random

from program import ProgramTest, main

CLUSTER = """\
schema: 1
classes:
  a: {gpu_type: A100, gpus: 4, cpu_milli: 8000, memory_mib: 1024}
  c: {gpus: 0, cpu_milli: 8000, memory_mib: 1024}
queues: [{id: few, gpu_quota: 2}]
pods:
  - id: p0
    racks:
      - {id: r0, machines: [{ids: "a[0-1]", class: a}]}
      - {id: r1, machines: [{ids: "a2", class: a}, {ids: "c0", class: c}]}
"""


def job(name, gpus, duration, count=1, cpu=0, **keys):
    return {"id": name, "duration": duration,
            "tasks": [{"shape": "worker", "count": count, "gpus": gpus, "cpu_milli": cpu}], **keys}


def placement(plan, name):
    return next(p for p in plan["placements"] if p["job"] == name)


def overlap(one, other):
    return one["start"] < other["end"] and other["start"] < one["end"]


class HorizonTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("c.yaml", CLUSTER)

    def jobs(self, jobs):
        self.write("j.jsonl", "".join(json.dumps(one) + "\n" for one in jobs))

    def planned(self, jobs, *flags, code=0, **how):
        self.jobs(jobs)
        done = self.plan("--horizon", *flags, **how)
        self.assert_ends(done, code)
        self.assert_valid()
        return self.read_plan()

    def starts(self, plan):
        return {p["job"]: p["start"] for p in plan["placements"]}

    def test_the_worthier_job_runs_first_and_the_other_when_it_fits(self):
        jobs = [job("low", 4, 100, count=3), job("high", 4, 100, count=3, weight=2)]
        plan = self.planned(jobs, "150")
        self.assertEqual(self.starts(plan), {"high": 0})
        self.assertEqual((plan["objective"], plan["jobs_now"], plan["jobs_later"]), (24, 1, 0))
        self.assertEqual(plan["waiting"][0]["job"], "low")
        plan = self.planned(jobs, "200s", "--now", "1000")
        self.assertEqual(sorted(self.starts(plan).values()), [1000, 1100])
        self.assertEqual((plan["objective"], plan["upper_bound"]), (36, 36))
        self.assertEqual(placement(plan, "low")["end"] - placement(plan, "low")["start"], 100)

    def test_flow_puts_short_jobs_first(self):
        jobs = [job("long", 4, 100, count=3), job("short", 4, 10, count=3)]
        plan = self.planned(jobs, "1h", "--objective", "flow")
        self.assertEqual(self.starts(plan), {"short": 0, "long": 10})
        self.assertEqual(plan["objective"], 120)
        self.assertLessEqual(plan["lower_bound"], 120)

    def test_makespan_ends_the_last_job_early_and_proves_it(self):
        # LPT gives 11 on two machines of 4 GPUs: 5 + 3 + 3 against 5 + 3; 3 machines less one: 10
        self.write("c.yaml", CLUSTER.replace("a[0-1]", "a0"))
        jobs = [job(f"j{i}", 4, d) for i, d in enumerate([5, 5, 4, 3, 3])]
        plan = self.planned(jobs, "1h", "--objective", "makespan", "--now", "50")
        self.assertEqual((plan["objective"], plan["lower_bound"]), (10, 10))
        self.assertEqual(max(p["end"] for p in plan["placements"]), 60)
        # the longest job alone proves 50; one that fits nowhere counts on neither side
        plan = self.planned([job("long", 1, 50), job("short", 1, 10), job("no", 5, 90)], "1h",
                            "--objective", "makespan")
        self.assertEqual((plan["objective"], plan["lower_bound"], plan["gap"]), (50, 50, 0))
        self.assertEqual(plan["required_missing"], ["no"])
        sound = self.planned(jobs, "1h", "--objective", "makespan")
        for kind, fault in [
                ("wrong_objective", lambda plan: plan.update(objective=9)),
                ("wrong_bound", lambda plan: plan.update(lower_bound=11)),
                ("bad_certificate",
                 lambda plan: plan["price_curves"]["curves"][0]["starts"].append(0))]:
            plan = copy.deepcopy(sound)
            fault(plan)
            self.write("bad.json", json.dumps(plan))
            done = self.check(plan="bad.json")
            self.assert_ends(done, 1)
            self.assertIn(f"fault {kind}:", done.out, done)

    def test_machines_racks_and_quotas_hold_at_every_moment(self):
        jobs = [job(f"cpu{i}", 1, 10, cpu=5000) for i in range(4)]  # one a machine at a time
        plan = self.planned(jobs, "20")
        self.assertEqual(sorted(self.starts(plan).values()), [0, 0, 0, 10])
        plan = self.planned([job("large", 1, 10, cpu=9000, weight=9), job("fits", 1, 10)], "20")
        self.assertEqual((self.starts(plan), plan["upper_bound"]), ({"fits": 0}, 1))
        plan = self.planned([job(f"r{i}", 4, 10, count=2, domain="rack") for i in range(2)], "20")
        self.assertEqual(sorted(self.starts(plan).values()), [0, 10])
        plan = self.planned([job(f"q{i}", 1, 10, queue="few") for i in range(4)], "20")
        self.assertEqual(sorted(self.starts(plan).values()), [0, 0, 10, 10])

    def test_times_speeds_and_jobs_without_an_end(self):
        plan = self.planned([job("later", 1, 10, not_before=7),
                             job("fast", 1, 10, speed={"A100": 4}),
                             {"id": "open", "tasks": [{"gpus": 1}]}], "100")
        self.assertEqual(self.starts(plan), {"later": 7, "fast": 0, "open": 0})
        self.assertEqual(placement(plan, "fast")["end"], 3)  # 10 / 4, rounded up
        self.assertGreaterEqual(placement(plan, "open")["end"], 100)

    def test_running_jobs_keep_their_place_until_they_end(self):
        held = [{"shape": "worker", "machine": "a0",
                 "gpus": [{"index": i, "milli": 1000} for i in range(4)]}]
        runs = job("runs", 4, 30, running={"tasks": held, "remaining": 30})
        pinned = job("pinned", 4, 30, running={"tasks": [dict(held[0], machine="a1")],
                                               "pinned": True, "remaining": 20})
        plan = self.planned([runs, pinned, job("gang", 4, 10, count=3)], "50")
        self.assertEqual(self.starts(plan), {"runs": 0, "gang": 30})
        self.assertEqual(placement(plan, "runs")["end"], 30)

    def test_windows_close_machines(self):
        self.write("c.yaml", CLUSTER + "windows:\n"
                   "  - {machines: [a0], from: 5, to: 30, kind: maintenance}\n"
                   "  - {machines: [a1], from: 0, to: 20, kind: reservation, for: {jobs: [vip]}}\n")
        plan = self.planned([job("gang", 4, 10, count=3), job("one", 4, 10)], "60")
        self.assertEqual(self.starts(plan), {"gang": 30, "one": 0})
        one = placement(plan, "one")
        one["tasks"][0]["machine"] = "a0"
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault machine_not_up: job one on machine a0",
                      self.check(plan="bad.json").out)

    def test_the_plan_is_the_same_on_any_ranks(self):
        jobs = [job(f"j{i}", 1 + i % 4, 10 + 7 * (i % 5), count=1 + i % 3, weight=1 + i % 7)
                for i in range(40)]
        plans = [self.planned(jobs, "120", ranks=ranks) for ranks in [None, 2, 3]]
        for plan in plans[1:]:
            self.assertEqual(plan["plan_digest"], plans[0]["plan_digest"])
            self.assertEqual(plan["proof_digest"], plans[0]["proof_digest"])

    def test_a_plan_of_now_is_left_for_the_scheduler_and_bad_flags_are_refused(self):
        self.jobs([job("a", 1, 10)])
        self.assert_refused(self.plan("--objective", "flow"), 2, ".*flow needs --horizon")
        self.assert_refused(self.plan("--horizon", "2d", "--objective", "allocate"), 2,
                            ".*value or flow")
        self.assert_ends(self.plan("--horizon", "soon"), 2)
        self.assert_ends(self.plan("--now", "7"), 2)
        self.assert_ends(self.plan("--horizon", "1h", "--effort", "2"), 2)

    def test_keys_that_are_not_planned_are_refused_by_line_and_key(self):
        for key, more in [("gpu_milli", {"tasks": [{"gpu_milli": 500}]}),
                          ("exclusive", {"exclusive": "machine"}),
                          ("max_tasks_per", {"max_tasks_per": {"machine": 1}})]:
            with self.subTest(key=key):
                self.jobs([job("fine", 1, 10), job("odd", 1, 10) | more])
                done = self.plan("--horizon", "1h")
                self.assert_refused(done, 2, f"j.jsonl:2: {key}: not planned with --horizon yet")

    def best(self, jobs, gpus, end):
        """The most value that jobs, each on one machine of some GPUs, have by the end."""
        spans = [[None, *range(one.get("not_before", 0), end - one["duration"] + 1)]
                 for one in jobs]
        most = 0
        for starts in itertools.product(*spans):
            used = [0] * end
            for one, start in zip(jobs, starts):
                for t in range(start or 0, (start or 0) + one["duration"] if start is not None
                               else 0):
                    used[t] += one["tasks"][0]["gpus"]
            if max(used) > gpus:
                continue
            most = max(most, sum(one["weight"] * one["tasks"][0]["gpus"]
                                 for one, start in zip(jobs, starts) if start is not None))
        return most

    def test_the_bound_holds_for_the_best_plan_of_small_cases(self):
        self.write("c.yaml", "schema: 1\nclasses: {a: {gpu_type: A, gpus: 4}}\n"
                   "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: a}]}]}]\n")
        for seed in range(8):
            draw = random.Random(seed)
            jobs = [job(f"j{i}", draw.randint(1, 4), draw.randint(1, 4),
                        weight=draw.randint(1, 5), not_before=draw.randint(0, 3))
                    for i in range(5)]
            with self.subTest(seed=seed):
                plan = self.planned(jobs, "6")
                best = self.best(jobs, 4, 6)
                self.assertLessEqual(plan["objective"], best)
                self.assertGreaterEqual(plan["upper_bound"], best - 1e-9)
                self.assertGreaterEqual(plan["objective"], 0.8 * best)

    def test_check_names_planted_faults(self):
        sound = self.planned([job("a", 4, 100, count=3, weight=2), job("b", 4, 100, count=3),
                              job("c", 1, 10, cpu=5000, not_before=210),
                              job("d", 1, 10, cpu=5000, not_before=210)], "300")
        self.assertEqual(len(sound["placements"]), 4)

        def shift(name, seconds):
            def fault(plan):
                placement(plan, name)["start"] += seconds
                placement(plan, name)["end"] += seconds
            return fault

        def gather(plan):
            task = placement(plan, "d")["tasks"][0]
            task["machine"] = placement(plan, "c")["tasks"][0]["machine"]
            task["gpus"][0]["index"] = 3 - placement(plan, "c")["tasks"][0]["gpus"][0]["index"]
            shift("d", placement(plan, "c")["start"] - placement(plan, "d")["start"])(plan)

        def scale(key, factor):
            return lambda plan: plan.update({key: plan[key] * factor})

        def free(plan):
            for curve in plan["price_curves"]["curves"]:
                curve["starts"] = [0 for _ in curve["starts"]]
                curve["slopes"] = [0 for _ in curve["slopes"]]

        for kind, fault in [
                ("device_oversubscribed", shift("b", -1)), ("bad_start", shift("c", -1)),
                ("bad_start", lambda plan: placement(plan, "a").update(end=99)),
                ("machine_oversubscribed", gather),
                ("split_gang", lambda plan: placement(plan, "a")["tasks"].pop()),
                ("lost_job", lambda plan: plan["placements"].pop()),
                ("unknown_machine",
                 lambda plan: placement(plan, "a")["tasks"][0].update(machine="no")),
                ("wrong_objective", scale("objective", 1.01)),
                ("bound_too_low", scale("upper_bound", 0.99)),
                ("wrong_bound", scale("upper_bound", 1.01)),
                ("wrong_count", lambda plan: plan.update(jobs_now=7)),
                ("missing_entry", lambda plan: plan.pop("price_curves")),
                ("bad_certificate",
                 lambda plan: plan["price_curves"]["curves"][0]["starts"].append(0)),
                ("wrong_gap", lambda plan: plan.update(gap=0.5))]:
            with self.subTest(kind=kind):
                plan = copy.deepcopy(sound)
                fault(plan)
                self.write("bad.json", json.dumps(plan))
                done = self.check(plan="bad.json")
                self.assert_ends(done, 1)
                self.assertIn(f"fault {kind}:", done.out, done)
        plan = self.planned([job("a", 4, 100, count=3), job("b", 4, 100, count=3)], "150")
        self.assertLess(plan["upper_bound"], 13)
        free(plan)  # proves 24
        self.write("bad.json", json.dumps(plan))
        done = self.check(plan="bad.json")
        self.assert_ends(done, 1)
        self.assertIn("fault bound_too_low:", done.out)


main()

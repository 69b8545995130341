#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth plan --policy`: plans of policies are ordinary plans, with Berth's bound beside them."""
import hashlib
import json
import re

from program import ProgramTest, main

CLUSTER = """\
schema: 1
classes: {a: {gpu_type: A, gpus: 4, cpu_milli: 64000, memory_mib: 262144}}
pods: [{id: p0, racks: [{id: r0, machines: [{ids: "a[0-3]", class: a}]}]}]
queues: [{id: research, gpu_quota: 12}]
"""


def job(name, gpus, arrival=0, count=1, **more):
    tasks = [{"shape": "w", "count": count, "gpus": gpus}]
    return json.dumps({"id": name, "arrival": arrival, "tasks": tasks, **more}) + "\n"


def jobs(durations=True):
    """16 GPUs; 30 are asked for, in an order in which the first that does not fit holds up others."""
    asked = [("big", 4, 2), ("wide", 4, 3), ("one", 1, 1), ("two", 2, 1), ("three", 3, 1),
             ("four", 4, 1)]
    text = ""
    for i, (name, gpus, count) in enumerate(asked):
        more = {"duration": 100 * (i + 1)} if durations else {}
        text += job(name, gpus, arrival=i, count=count, weight=1 + i % 3, **more)
    return text


PS_JOB = {"tasks": [{"shape": "worker", "count": 2, "gpus": 1, "cpu_milli": 1000},
                    {"shape": "server", "count": 1, "cpu_milli": 1000}], "duration": 3000}
PS_PROFILE = {"profile": "ps", "model": "parameter_server", "reference": 100, "servers": "server",
              "seconds_per_sample": 0.01, "gradient_gbit": 0.1, "batch": 8,
              "workers_per_server": 2, "internal_gbps": 50, "external_gbps": 10}
OVERLAP = {"profile": "ps", "model": "overlap", "reference": 2, "servers": "server", "batch": 64,
           "forward": 0.001, "backward": 0.05, "model_gbit": 0.8, "server_gbps": 10}


class PlansOfPolicies(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("c.yaml", CLUSTER)
        self.write("j.jsonl", jobs())

    def placed(self):
        return {p["job"] for p in self.read_plan()["placements"]}

    def with_profile(self, profile, count=3):
        lines = "".join(json.dumps({"id": f"j{i}", "value": 10 + i, "arrival": 700 * i, **PS_JOB})
                        + "\n" for i in range(count))
        self.write("j.jsonl", lines)
        self.write("p.jsonl", json.dumps(profile) + "\n" +
                   "".join(json.dumps({"job": f"j{i}", "profile": "ps"}) + "\n"
                           for i in range(count)))

    def test_every_policy_of_the_table_makes_a_valid_plan(self):
        own = None
        for policy in ["fifo", "best-fit", "easy", "conservative", "sjf", "sjf-backfill", "wspt",
                       "wspt-backfill", "srtf", "srsf", "las", "drf", "fgd"]:
            with self.subTest(policy=policy):
                self.assert_ends(self.plan("--policy", policy), 0)
                self.assert_valid()
                plan = self.read_plan()
                self.assertEqual(plan["options"]["policy"], policy)
                self.assertLessEqual(plan["objective"], plan["stats"]["berth_objective"] + 1e-9)
                self.assertGreaterEqual(plan["upper_bound"], plan["objective"])
                if own is None:
                    own = plan["upper_bound"]
                self.assertEqual(plan["upper_bound"], own)

    def test_fifo_holds_up_and_best_fit_passes(self):
        self.assert_ends(self.plan("--policy", "fifo"), 0)
        self.assertEqual(self.placed(), {"big"})
        waiting = self.read_plan()["waiting"]
        self.assertEqual({w["reason"] for w in waiting}, {"fifo does not start it now"})
        self.assert_ends(self.plan("--policy", "best-fit"), 0)
        self.assertEqual(self.placed(), {"big", "one", "two", "three"})

    def test_the_gap_of_a_policy_is_that_of_the_bound(self):
        done = self.plan("--policy", "fifo")
        self.assertIn("Berth's plan", done.out)
        plan = self.read_plan()
        gap = (plan["upper_bound"] - plan["objective"]) / plan["upper_bound"]
        self.assertAlmostEqual(plan["gap"], gap, places=12)
        self.assertGreater(plan["gap"], 0.1)

    def test_the_same_plan_on_any_number_of_ranks(self):
        digests = set()
        for ranks in [None, 2, 3]:
            self.assert_ends(self.plan("--policy", "fgd", ranks=ranks), 0)
            plan = self.read_plan()
            digests.add((plan["plan_digest"], plan["proof_digest"]))
        self.assertEqual(len(digests), 1)

    def test_running_jobs_keep_their_places_and_quotas_hold(self):
        running = {"tasks": [{"shape": "w", "machine": "a3", "gpus": [{"index": i}
                                                                      for i in range(4)]}]}
        self.write("j.jsonl", job("there", 4, running=running, duration=50, queue="research") +
                   job("in", 4, count=2, queue="research", duration=50) +
                   job("out", 1, queue="research", duration=50) + job("free", 4, duration=50))
        self.assert_ends(self.plan("--policy", "best-fit"), 0)
        self.assert_valid()
        self.assertEqual(self.placed(), {"there", "in", "free"})
        there = [p for p in self.read_plan()["placements"] if p["job"] == "there"]
        self.assertEqual(there[0]["tasks"][0]["machine"], "a3")

    def test_jobs_come_in_the_order_of_arrival_and_keys_of_time_do_not_count(self):
        self.write("j.jsonl", job("late", 4, 9, 4) + job("early", 4, 3, 4, after=["late"]))
        self.assert_ends(self.plan("--policy", "fifo"), 0)
        self.assertEqual(self.placed(), {"early"})

    def test_a_required_job_that_waits_is_the_exit_code(self):
        self.write("j.jsonl", job("big", 4, 0, 4, duration=100) +
                   job("needed", 4, 1, duration=100, required=True))
        for args in [[], ["--horizon", "100"]]:
            with self.subTest(args=args):
                self.assert_ends(self.plan("--policy", "fifo", *args), 5)
                plan = self.read_plan()
                self.assertEqual(plan["required_missing"], ["needed"])
                self.assertEqual(plan["options"]["policy"], "fifo")

    def test_a_job_that_would_end_too_late_waits(self):
        self.write("j.jsonl", job("first", 4, 0, 4, duration=100) +
                   job("late", 4, 1, 4, duration=50, deadline=60, weight=9))
        self.assert_ends(self.plan("--policy", "fifo", "--horizon", "500"), 0)
        self.assertEqual(self.placed(), {"first"})

    def test_an_objective_that_counts_all_jobs_needs_all_of_them(self):
        self.write("j.jsonl", job("first", 4, 0, 4, duration=100) +
                   job("late", 4, 1, 4, duration=50, deadline=60))
        self.write("plan.json", "kept")
        for objective in ["flow", "makespan"]:
            with self.subTest(objective=objective):
                done = self.plan("--policy", "fifo", "--horizon", "500", "--objective", objective)
                self.assert_ends(done, 2)
                self.assertIn(f"fifo starts 1 of 2 jobs in time; {objective} counts all", done.err)
                self.assertEqual((self.folder / "plan.json").read_text(), "kept")
        self.assert_ends(self.plan("--policy", "fifo", "--horizon", "500"), 0)  # value does not

    def test_durations_are_needed_only_by_policies_that_look_at_them(self):
        self.write("j.jsonl", jobs(durations=False))
        for policy in ["fifo", "las", "fgd"]:
            self.assert_ends(self.plan("--policy", policy), 0)
        self.write("plan.json", "kept")
        done = self.plan("--policy", "sjf")
        self.assert_ends(done, 2)
        self.assertIn("sjf looks at durations; jobs without duration and limit: big, wide", done.err)
        self.assertEqual((self.folder / "plan.json").read_text(), "kept")

    def test_a_horizon_has_the_starts_of_a_simulation(self):
        for policy in ["fifo", "best-fit", "easy", "conservative", "sjf", "wspt", "drf", "fgd"]:
            with self.subTest(policy=policy):
                self.assert_ends(self.plan("--policy", policy, "--horizon", "2000"), 0)
                self.assert_valid()
                self.assertEqual(len(self.placed()), 6)
        self.assert_ends(self.plan("--policy", "fifo", "--horizon", "150"), 0)
        self.assert_valid()
        self.assertEqual({w["reason"] for w in self.read_plan()["waiting"]},
                         {"fifo does not start it within the horizon"})
        starts = {p["job"]: p["start"] for p in self.read_plan()["placements"]}
        self.assertEqual(starts, {"big": 0, "wide": 100, "one": 100, "two": 100})

    def test_a_horizon_for_other_objectives(self):  # few jobs: Berth's own plan is what takes time
        self.write("j.jsonl", "".join(jobs().splitlines(keepends=True)[:3]))
        for objective in ["flow", "makespan"]:
            with self.subTest(objective=objective):
                self.assert_ends(self.plan("--policy", "easy", "--horizon", "2000",
                                           "--objective", objective), 0)
                self.assert_valid()
                starts = {p["job"]: p["start"] for p in self.read_plan()["placements"]}
                self.assertEqual(starts, {"big": 0, "wide": 100, "one": 2})

    def test_papers_policies_plan_with_their_profiles(self):
        for policy, profile in [("pd-ors", PS_PROFILE), ("oasis", PS_PROFILE), ("smd", OVERLAP),
                                ("optimus", OVERLAP), ("gadget", OVERLAP)]:
            with self.subTest(policy=policy):
                self.with_profile(profile)
                self.assert_ends(self.plan("--policy", policy, "--profiles", "p.jsonl"), 0)
                self.assert_valid()
                self.assertGreater(len(self.placed()), 0)
        self.with_profile(PS_PROFILE)
        self.write("p.jsonl", json.dumps(PS_PROFILE))
        done = self.plan("--policy", "pd-ors", "--profiles", "p.jsonl")
        self.assert_ends(done, 2)
        self.assertIn("j0 has no profile of the model parameter_server", done.err)

    def test_profiles_are_recorded(self):
        self.with_profile(OVERLAP)
        self.assert_ends(self.plan("--policy", "smd", "--profiles", "p.jsonl"), 0)
        with_them = self.read_plan()["options"]
        self.assert_ends(self.plan("--policy", "fifo"), 0)
        digest = hashlib.sha256((self.folder / "p.jsonl").read_bytes()).hexdigest()
        self.assertEqual(with_them["profiles"], digest)
        self.assertNotIn("profiles", self.read_plan()["options"])

    def test_a_limit_is_the_exit_code(self):
        for horizon in [[], ["--horizon", "2000"]]:
            with self.subTest(horizon=horizon):
                done = self.plan("--policy", "fifo", "--time-limit", "0.000001", *horizon)
                self.assert_ends(done, 3)
                self.assert_valid()
                self.assertEqual(self.read_plan()["options"]["policy"], "fifo")

    def test_draws_of_a_policy_are_those_of_the_seed(self):  # PD-ORS rounds at random
        self.write("c.yaml", CLUSTER.replace("a[0-3]", "a[0-5]").replace("64000", "5000"))
        tasks = [{"shape": "worker", "count": 7, "gpus": 1, "cpu_milli": 1100},
                 {"shape": "server", "count": 4, "cpu_milli": 900}]
        names = ["j0", "j1", "j2"]
        self.write("j.jsonl", "".join(
            json.dumps({"id": name, "value": 50 + 7 * i, "duration": 3600, "tasks": tasks}) + "\n"
            for i, name in enumerate(names)))
        self.write("p.jsonl", json.dumps(PS_PROFILE) + "\n" + "".join(
            json.dumps({"job": name, "profile": "ps"}) + "\n" for name in names))
        placements = {}
        for seed in [1, 2, 3, 4, 5, 1]:
            self.assert_ends(self.plan("--policy", "pd-ors", "--profiles", "p.jsonl", "--seed",
                                       str(seed)), 0)
            made = json.dumps(self.read_plan()["placements"])
            self.assertEqual(placements.setdefault(seed, made), made)
        self.assertGreater(len(set(placements.values())), 1)

    def test_simulations_for_utility_have_a_proved_competitive_ratio(self):
        for policy, profile in [("pd-ors", PS_PROFILE), ("oasis", PS_PROFILE), ("smd", OVERLAP),
                                ("optimus", OVERLAP)]:
            with self.subTest(policy=policy):
                self.with_profile(profile)
                done = self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                  "--policy", policy, "--profiles", "p.jsonl", "--out", "run",
                                  "--bound")
                self.assert_ends(done, 0)
                found = re.search(r"utility +([\d.]+)\n +bound, by the judge +([\d.]+) "
                                  r"\(competitive ratio at most ([\d.]+)\)", done.out)
                self.assertIsNotNone(found, done.out)
                earned, bound, ratio = map(float, found.groups())
                self.assertEqual(earned, 33)  # 10 + 11 + 12: their values do not fall
                self.assertGreaterEqual(bound, earned)
                self.assertAlmostEqual(ratio, bound / earned, delta=1e-3)
        done = self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--policy",
                          "fifo", "--profiles", "p.jsonl", "--out", "run", "--bound")
        self.assert_ends(done, 0)
        self.assertNotIn("competitive", done.out)

    def test_what_makes_no_plan_says_why(self):
        for args, words in [
                (["berth"], "without --policy"), (["fifi"], "fifo"), (["max-min"], "shares time"),
                (["pop-4"], "shares time"), (["ones"], "learns from runs"),
                (["optimus-elastic"], "chooses sizes"),
                (["slaq"], "losses that jobs have reported"),
                (["las", "--horizon", "1h"], "stops jobs"),
                (["smd", "--horizon", "1h"], "speeds of profiles")]:
            with self.subTest(args=args):
                done = self.plan("--policy", *args)
                self.assert_ends(done, 2)
                self.assertIn(words, done.err)

    def test_limits_that_policies_do_not_know_are_refused(self):
        self.write("j.jsonl", job("x", 1, duration=5, max_tasks_per={"machine": 1}, count=2) +
                   job("y", 1, duration=5, communication={"pattern": "ring", "gbps": 1}, count=2))
        done = self.plan("--policy", "fifo")
        self.assert_ends(done, 2)
        self.assertIn("fifo does not respect: communication;", done.err)

    def test_rules_about_machines_are_kept(self):
        self.write("j.jsonl", job("x", 1, duration=5, max_tasks_per={"machine": 1}, count=2) +
                   job("y", 1, duration=5, exclusive="machine") + job("z", 1, duration=5))
        for policy in "fifo", "best-fit", "drf", "fgd", "srsf":
            self.assert_ends(self.plan("--policy", policy), 0)
            self.assert_ends(self.check(), 0)
        self.assert_ends(self.plan("--policy", "fifo", "--horizon", "100"), 0)
        self.assert_ends(self.check(), 0)

    def test_limits_that_policies_do_not_know_in_time_are_refused(self):
        running = {"tasks": [{"shape": "w", "machine": "a0", "gpus": [{"index": 0}]}]}
        there = job("there", 1, running=running, duration=50)
        for words, cluster, lines in [
                ("running", CLUSTER, there),
                ("spare", CLUSTER + "spare: [{gpu_type: A, gpus: 1, penalty: 1}]\n", ""),
                ("gpu_hours of queues", CLUSTER.replace("gpu_quota: 12", "gpu_hours: 5"), "")]:
            with self.subTest(words=words):
                self.write("c.yaml", cluster)
                self.write("j.jsonl", lines + job("x", 1, duration=5))
                self.assert_ends(self.plan("--policy", "fifo"), 0)
                done = self.plan("--policy", "fifo", "--horizon", "100")
                self.assert_ends(done, 2)
                self.assertIn("fifo does not respect: " + words, done.err)


if __name__ == "__main__":
    main()

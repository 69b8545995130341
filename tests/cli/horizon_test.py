#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans in time: hand-solved and exhaustively solved cases, planted faults."""
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
    def test_every_reason_for_waiting_is_counted(self):
        jobs = [{"id": f"j{gpus}", "duration": 60, "gpu_types": ["H100"], "deadline": 60 + gpus,
                 "tasks": [{"count": gpus, "gpus": 4}]} for gpus in range(2, 4)]
        jobs += [{"id": "after", "duration": 60, "after": ["j2"], "tasks": [{"gpus": 1}]},
                 {"id": "and", "duration": 60, "after": ["j3"], "tasks": [{"gpus": 1}]},
                 {"id": "then", "duration": 60, "after": ["after"], "tasks": [{"gpus": 1}]},
                 {"id": "late", "duration": 60, "not_before": 90000, "tasks": [{"gpus": 1}]}]
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        done = self.plan("--horizon", "1h")
        self.assert_ends(done, 0)
        for words in ["job j2 must end first", "job j3 must end first", "job after must end first",
                      "only after the horizon", "no machine can run it"]:
            self.assertIn(words, done.out)

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
                ("bound_too_low", lambda plan: plan.update(lower_bound=11)),
                ("bad_certificate",
                 lambda plan: plan["price_curves"]["curves"][0]["starts"].append(0))]:
            plan = copy.deepcopy(sound)
            fault(plan)
            self.write("bad.json", json.dumps(plan))
            done = self.check(plan="bad.json")
            self.assert_ends(done, 1)
            self.assertIn(f"fault {kind}:", done.out, done)

    def test_jobs_start_after_those_they_wait_for(self):
        # one that many wait for goes first, though it is worth least; a chain is planned in order
        jobs = [job("c", 4, 10, count=3, after=["b"], weight=9),
                job("b", 4, 10, count=3, after=["a"]), job("a", 4, 10, count=3),
                job("other", 4, 10, count=3, weight=2)]
        plan = self.planned(jobs, "30")
        self.assertEqual(self.starts(plan), {"a": 0, "b": 10, "c": 20})
        plan = self.planned(jobs, "30", "--objective", "flow")
        self.assertEqual(self.starts(plan), {"a": 0, "b": 10, "c": 20, "other": 30})
        plan = self.planned(jobs, "30", "--objective", "makespan")
        self.assertEqual((plan["objective"], plan["lower_bound"]), (40, 40))
        # a job that waits takes its dependants with it
        plan = self.planned([job("none", 5, 10), job("x", 1, 10, after=["none"]),
                             job("y", 1, 10, after=["x"]), job("late", 1, 10, not_before=25),
                             job("z", 1, 3, after=["late"])], "36")
        self.assertEqual(self.starts(plan), {"late": 25})
        self.assertEqual({w["job"]: w["reason"] for w in plan["waiting"]},
                         {"none": "no room to end in time",
                          "x": "job none must end first, and waits",
                          "y": "job x must end first, and waits", "z": "no room to end in time"})

    def test_jobs_wait_for_running_ones_and_the_judge_checks_it(self):
        held = [{"shape": "worker", "machine": "a0", "gpus": [{"index": 0, "milli": 1000}]}]
        jobs = [job("runs", 1, 30, running={"tasks": held, "remaining": 12}),
                job("next", 1, 10, after=["runs"]), job("last", 1, 10, after=["next"])]
        plan = self.planned(jobs, "40", "--objective", "flow")
        self.assertEqual(self.starts(plan), {"runs": 0, "next": 12, "last": 22})
        self.assertEqual(plan["lower_bound"], plan["objective"])  # bounds know earliest ends
        for key in ["start", "end"]:
            placement(plan, "last")[key] -= 1
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault bad_start: job last starts at 21 before job next has ended",
                      self.check(plan="bad.json").out)

    def test_one_configuration_of_an_elastic_job_is_chosen(self):
        ways = [{"counts": {"worker": 8}, "speed": 4}, {"counts": {"worker": 2}, "speed": 1.5},
                {"counts": {"worker": 1}, "value": 50}]
        jobs = [job("elastic", 1, 60, count=4, configurations=ways)]
        plan = self.planned(jobs, "100", "--objective", "flow")
        self.assertEqual(placement(plan, "elastic")["end"], 15)
        self.assertEqual(len(placement(plan, "elastic")["tasks"]), 8)
        for spoil in [lambda p: p["tasks"].pop(), lambda p: p.update(end=60)]:
            bad = copy.deepcopy(plan)
            spoil(placement(bad, "elastic"))
            self.write("bad.json", json.dumps(bad))
            self.assertRegex(self.check(plan="bad.json").out, "fault (split_gang|bad_start): job el")
        plan = self.planned(jobs, "100")  # worth 4 GPUs, or 50 on one
        self.assertEqual((plan["objective"], plan["upper_bound"]), (50, 50))
        self.assertEqual(len(placement(plan, "elastic")["tasks"]), 1)
        # beside others and within a quota only the small ones fit
        jobs = [job(f"e{i}", 1, 60, count=4, queue="few", configurations=ways[:2])
                for i in range(2)]
        plan = self.planned(jobs, "100", "--objective", "flow")
        self.assertEqual(sorted(self.starts(plan).values()), [0, 40])
        self.assertEqual([len(p["tasks"]) for p in plan["placements"]], [2, 2])

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

    def test_queues_keep_to_their_gpu_hours_within_the_horizon(self):
        self.write("c.yaml", CLUSTER.replace("gpu_quota: 2", "gpu_hours: 1"))
        jobs = [job(f"b{i}", 1, 1000, queue="few", weight=1 + i) for i in range(5)]
        plan = self.planned(jobs + [job("free", 1, 1000)], "2h")
        self.assertEqual(set(self.starts(plan)), {"b2", "b3", "b4", "free"})  # 3,000 of 3,600 s
        reasons = {waiting["reason"] for waiting in plan["waiting"]}
        self.assertEqual(reasons, {"the GPU-hours of its queue are used"})
        late = placement(plan, "free")
        late["job"], plan["waiting"][0]["job"] = plan["waiting"][0]["job"], "free"
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault quota_exceeded: queue few takes more than its 1 GPU-hours",
                      self.check(plan="bad.json").out)
        plan = self.planned(jobs, "2h", "--objective", "flow")
        self.assertEqual(sorted(self.starts(plan).values()), [0, 0, 0, 7200, 7200])

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

    def test_reservations_are_for_their_jobs_and_queues(self):
        self.write("c.yaml", CLUSTER + "windows:\n"
                   "  - {machines: [a0], from: 10, to: 40, kind: reservation, for: {jobs: [vip]}}\n"
                   "  - {machines: [a1], from: 10, to: 40, kind: reservation,"
                   " for: {queues: [few]}}\n"
                   "  - {machines: [a2], from: 0, to: 40, kind: maintenance}\n"
                   "  - {machines: [c0], from: 0, to: 9, kind: reservation, for: {jobs: [none]}}\n")
        jobs = [job("vip", 4, 30), job("other", 4, 30), job("few", 2, 30, queue="few"),
                job("before", 4, 10)]
        plan = self.planned(jobs, "100", "--objective", "flow")
        starts = self.starts(plan)
        self.assertEqual((starts["before"], starts["vip"], starts["few"]), (0, 10, 10))
        self.assertGreaterEqual(starts["other"], 40)
        self.assertEqual(placement(plan, "vip")["tasks"][0]["machine"], "a0")
        self.assertEqual(placement(plan, "few")["tasks"][0]["machine"], "a1")
        vip, other = placement(plan, "vip"), placement(plan, "other")
        vip["job"], other["job"] = "other", "vip"  # nobody else may be there
        self.write("bad.json", json.dumps(plan))
        self.assertIn("fault machine_not_up: job other on machine a0",
                      self.check(plan="bad.json").out)

    def test_collisions_of_running_jobs_and_soft_quotas_are_told(self):
        self.write("c.yaml", CLUSTER.replace("gpu_quota: 2", "gpu_quota: 2, over_quota_penalty: 1")
                   + "windows: [{machines: [a0], from: 20, to: 40, kind: maintenance}]\n"
                   "machine_states: [{ids: a1, state: drain, deadline: 25}]\n")
        held = [{"shape": "worker", "machine": "a0", "gpus": [{"index": 0, "milli": 1000}]}]
        jobs = [job("r", 1, 30, running={"tasks": held, "remaining": 30}),
                job("s", 1, 30, running={"tasks": [dict(held[0], machine="a1")], "remaining": 30,
                                      "pinned": True}),
                job("fits", 1, 30, running={"tasks": [dict(held[0], machine="a2")]})]
        self.jobs(jobs)
        told = self.plan("--horizon", "100").err
        self.assertIn("job r runs until 30 on machine a0, which is closed from 20 to 40", told)
        self.assertIn("job s runs until 30 on machine a1, which must be empty by 25: it is pinned", told)
        self.assertIn("the soft quota of queue few is a limit in a plan with --horizon", told)
        self.assertNotIn("job fits", told)

    def on_a1(self, name, gpus, duration, remaining, index=0, costs=(), **keys):
        devices = [{"index": index + i, "milli": 1000} for i in range(gpus)]
        held = [{"shape": "worker", "machine": "a1", "gpus": devices}]
        return job(name, gpus, duration, **keys,
                   running={"tasks": held, "remaining": remaining, **dict(costs)})

    def test_jobs_leave_a_machine_that_must_be_empty_before_they_end(self):
        self.write("c.yaml", CLUSTER + "machine_states: [{ids: a1, state: drain, deadline: 25}]\n")
        jobs = [self.on_a1("ends", 1, 40, 25, 0, checkpoint_every=1),
                self.on_a1("goes-on", 1, 40, 26, 1, checkpoint_every=10, restart_cost=2),
                self.on_a1("anew", 1, 40, 39, 2),
                job("new", 4, 20), job("after", 1, 5, after=["goes-on"])]
        plan = self.planned(jobs, "200", "--objective", "flow")
        where = {p["job"]: {t["machine"] for t in p["tasks"]} for p in plan["placements"]}
        self.assertEqual({name for name, on in where.items() if "a1" in on}, {"ends"})
        times = {p["job"]: (p["start"], p["end"]) for p in plan["placements"]}
        self.assertEqual(times["ends"], (0, 25))
        self.assertEqual(times["goes-on"], (0, 32))  # 26, 4 since the last checkpoint, 2
        self.assertEqual(times["anew"], (0, 40))
        self.assertEqual(times["after"], (32, 37))
        self.write("old.json", json.dumps(plan))
        for change in ({"machine": "a1"}, {"end": 31}):
            bad = copy.deepcopy(plan)
            moved = placement(bad, "goes-on")
            moved["tasks"][0].update({k: v for k, v in change.items() if k == "machine"})
            moved.update({k: v for k, v in change.items() if k == "end"})
            self.write("bad.json", json.dumps(bad))
            fault = "machine_not_up" if "machine" in change else "bad_start"
            self.assertIn(f"fault {fault}: job goes-on", self.check(plan="bad.json").out)

    def test_a_move_is_worth_its_cost_or_the_job_stops(self):
        self.write("c.yaml", CLUSTER + "machine_states: [{ids: a1, state: drain, deadline: 5}]\n")
        for move, stop, value in [(3, 0, 7), (11, 0, 0), (11, 2, -1)]:
            with self.subTest(move=move, stop=stop):
                jobs = [self.on_a1("r", 4, 20, 10, value=10, checkpoint_every=1,
                                   costs={"move_cost": move, "stop_cost": stop}.items())]
                plan = self.planned(jobs, "100")
                self.assertEqual(plan["objective"], value)
                self.assertAlmostEqual(plan["upper_bound"], value, 6)
                self.assertEqual(len(plan["waiting"]), int(value == 0))
        full = [job(f"p{i}", 4, 100, value=99) for i in range(2)]  # all GPUs beside a1 for long
        plan = self.planned([*jobs, *full], "100")
        self.assertEqual(plan["objective"], 198 - 2)
        self.assertEqual(plan["waiting"][0]["reason"],
                         "must leave its machines: no room to end in time")

    def test_a_resumed_plan_is_that_of_an_uninterrupted_run(self):
        draw = random.Random(5)
        jobs = [job(f"j{i}", draw.choice([1, 2, 3, 4]), draw.randint(5, 90), draw.choice([1, 1, 2, 3]),
                    value=draw.randint(1, 9), weight=draw.randint(1, 4)) for i in range(8)]
        for objective in "value", "makespan", "flow":
            with self.subTest(objective=objective):
                flags = ["200", "--objective", objective]
                whole = self.planned(jobs, *flags, "--effort", "2")
                self.planned(jobs, *flags, "--checkpoint", "c.berth")
                again = self.planned(jobs, *flags, "--effort", "2", "--resume", "c.berth", ranks=2)
                for digest in "plan_digest", "proof_digest":
                    self.assertEqual(again[digest], whole[digest])
        # a cut pass is no part of the checkpoint
        self.jobs(jobs)
        cut = self.plan("--horizon", *flags, "--effort", "max", "--time-limit", "2s", "--checkpoint",
                        "cut.berth", "--resume", "c.berth")
        self.assert_ends(cut, 3)
        self.assertEqual(self.check().code, 0)
        self.planned(jobs, *flags, "--resume", "cut.berth", "--effort", "1")
        other = self.plan("--horizon", "300", "--resume", "c.berth")
        self.assert_refused(other, 2, "c.berth: options: made with horizon=200 objective=flow, "
                            "now asked for horizon=300 objective=value")
        self.jobs(jobs[1:])
        self.assert_refused(self.plan("--horizon", *flags, "--resume", "c.berth"), 2,
                            "c.berth: instance: made from other clusters or jobs than these")
        self.write("bad.berth", "berth checkpoint 0 x")
        self.assert_refused(self.plan("--horizon", *flags, "--resume", "bad.berth"), 2,
                            "bad.berth: a checkpoint of another build of berth")

    def test_promises_are_kept_or_broken_for_a_reason(self):
        first = [job(f"p{i}", 4, 20, count=3) for i in range(3)]
        old = self.planned(first, "100", "--objective", "flow")
        self.write("old.json", json.dumps(old))
        promised = self.starts(old)
        self.assertEqual(sorted(promised.values()), [0, 20, 40])
        # a worthier job comes: it waits for all promises, or takes the place of the last one
        now = [one for one in first if promised[one["id"]] > 0]
        jobs = [*now, job("urgent", 4, 20, count=3, weight=99)]
        flags = ["100", "--objective", "flow", "--now", "20"]
        free = self.starts(self.planned(jobs, *flags))
        self.assertEqual(free["urgent"], 20)
        plan = self.planned(jobs, *flags, "--keep", "old.json")
        self.assertEqual(self.starts(plan)["urgent"], 60)
        self.assertEqual([p["kept"] for p in plan["promises"]], [True, True])
        plan = self.planned(jobs, *flags, "--keep", "old.json", "--keep-price", "0.001")
        self.assertEqual(self.starts(plan)["urgent"], 20)
        broken = [p for p in plan["promises"] if not p["kept"]]
        self.assertEqual(len(broken), 1)  # the other one still has its turn
        self.assertRegex(broken[0]["reason"], "for job (urgent|p.) on machine a")
        plan["promises"][0]["kept"] = True
        self.write("bad.json", json.dumps(plan))
        self.assertRegex(self.check(plan="bad.json").out, "fault bad_start: job p. breaks its prom")

    def test_promises_that_cannot_be_kept_say_why(self):
        old = self.planned([job("m", 4, 20, count=3), job("late", 1, 10, not_before=30)], "100")
        self.write("old.json", json.dumps(old))
        self.write("c.yaml", CLUSTER + "machine_states: [{ids: a0, state: drained}]\n")
        plan = self.planned([job("m", 4, 20, count=3), job("late", 1, 10, not_before=40)], "100",
                            "--now", "10", "--keep", "old.json")
        self.assertEqual({p["job"]: p.get("reason") for p in plan["promises"]},
                         {"m": "that time has passed", "late": "not_before is later now"})
        self.jobs([job("m", 4, 20)])
        self.assert_ends(self.plan("--keep", "old.json"), 2)
        self.assert_refused(self.plan("--horizon", "9", "--objective", "makespan", "--keep",
                                      "old.json"), 2, ".*value and flow")

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
                            ".*value, flow or makespan")
        self.assert_ends(self.plan("--horizon", "soon"), 2)
        self.assert_ends(self.plan("--now", "7"), 2)
        self.assert_ends(self.plan("--horizon", "1h", "--shards", "2"), 2)

    def test_more_effort_begins_with_all_of_less(self):
        self.jobs([job(f"j{i}", 1 + (3 * i) % 4, 10 + 37 * i, weight=1 + i % 5) for i in range(8)])
        found = {}
        for effort in 1, 3:
            done = self.plan("--horizon", "2d", "--objective", "flow", "--effort", str(effort),
                             "--verbose")
            self.assert_ends(done, 0)
            self.assert_valid()
            self.assertEqual(done.err.count(" effort "), effort - 1, done.err)
            found[effort] = self.read_plan()
        self.assertLessEqual(found[3]["objective"], found[1]["objective"])
        self.assertEqual(found[3]["lower_bound"], found[1]["lower_bound"])
        self.assertEqual(found[3]["options"]["effort"], "3")

    def test_jobs_that_start_now_are_a_plan_of_this_moment(self):
        held = [{"shape": "worker", "machine": "a0", "gpus": [{"index": 0, "milli": 1000}]}]
        jobs = [job("runs", 1, 30, running={"tasks": held, "remaining": 30})]
        jobs += [job(f"j{i}", 1 + i % 4, 10 + 7 * (i % 5), count=1 + i % 2, cpu=1000 * (i % 5))
                 for i in range(20)]
        plan = self.planned(jobs, "120", "--now", "1000")
        now = [p for p in plan["placements"] if p["start"] == 1000]
        self.assertGreater(len(now), 2)
        self.assertLess(len(now), len(plan["placements"]))

        def faults(placements):
            placed = {p["job"] for p in placements}
            moment = {"schema": 1, "instance_digest": plan["instance_digest"],
                      "placements": [p | {"start": 0} for p in placements],
                      "waiting": [{"job": one["id"], "reason": "later", "earliest_start": None}
                                  for one in jobs if one["id"] not in placed]}
            self.write("now.json", json.dumps(moment))
            out = self.check(plan="now.json").out
            return {line.split(":")[0].split()[-1] for line in out.splitlines()
                    if line.strip().startswith("fault")}

        self.assertEqual(faults(now), {"missing_entry"})  # it has no figures, and nothing else
        self.assertIn("device_oversubscribed", faults(plan["placements"]))

    def test_planned_jobs_are_compared_with_running_ones_whenever_these_end(self):
        # one second on the GPU of a running or pinned job, at its start, inside it, at its end
        held = {"shape": "worker", "gpus": [{"index": 0, "milli": 1000}]}
        for pinned, remaining in itertools.product([False, True], [4, 10, 30]):
            runs = job("runs", 1, 99, running={"tasks": [dict(held, machine="a0")],
                                               "pinned": pinned, "remaining": remaining})
            sound = self.planned([runs, job("new", 1, 10)], "100")
            for start in [0, 1, remaining - 1, remaining]:
                with self.subTest(pinned=pinned, remaining=remaining, start=start):
                    plan = copy.deepcopy(sound)
                    new = placement(plan, "new")
                    new.update(start=start, end=start + 10)
                    new["tasks"][0].update(machine="a0", gpus=held["gpus"])
                    self.write("bad.json", json.dumps(plan))
                    self.assertEqual("fault device_oversubscribed:" in self.check(plan="bad.json").out,
                                     start < remaining)

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

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd but valid instances get a valid plan; every log flag does what its help says."""
import json
import os
import pty

from program import CLUSTER, JOBS, ProgramTest, finish, main

NO_MACHINES = "schema: 1\nclasses: {}\npods: []\n"


def gang(name, count, more=""):
    return f'{{"id": "{name}", {more} "tasks": [{{"shape": "w", "count": {count}, "gpus": 1}}]}}\n'


class OddInstances(ProgramTest):
    def reasons(self):
        return {w["job"]: w["reason"] for w in self.read_plan()["waiting"]}

    def test_no_machines_and_no_jobs_give_an_empty_plan(self):
        self.write("none.yaml", NO_MACHINES)
        self.write("none.jsonl", "")
        for cluster, jobs, waiting in [("none.yaml", "none.jsonl", 0), ("c.yaml", "none.jsonl", 0)]:
            for ranks in [None, 3]:
                with self.subTest(cluster=cluster, jobs=jobs, ranks=ranks):
                    self.assert_ends(self.plan(cluster=cluster, jobs=jobs, ranks=ranks), 0)
                    plan = self.read_plan()
                    self.assertEqual(plan["placements"], [])
                    self.assertEqual(len(plan["waiting"]), waiting)
                    self.assertEqual(plan["gap"], 0)
                    self.assert_valid(cluster=cluster, jobs=jobs)

    def test_jobs_without_machines_wait(self):
        self.write("none.yaml", NO_MACHINES)
        self.write("x.jsonl", gang("x", 2))
        self.assert_ends(self.plan(cluster="none.yaml", jobs="x.jsonl", ranks=3), 0)
        self.assertEqual(self.reasons(), {"x": "the cluster has no GPUs"})
        self.assert_valid(cluster="none.yaml", jobs="x.jsonl")

    def test_a_key_by_its_old_name_is_read_and_said_once(self):
        self.write("old.jsonl", gang("x", 2, '"spread": {"pod": 0.5},') +
                   gang("y", 2, '"spread": {"pod": 0.5},'))
        self.write("new.jsonl", gang("x", 2, '"width_factor": {"pod": 0.5},') +
                   gang("y", 2, '"width_factor": {"pod": 0.5},'))
        digests = []
        for jobs, warnings in [("old.jsonl", 1), ("new.jsonl", 0)]:
            for ranks in [None, 2]:
                done = self.plan(jobs=jobs, ranks=ranks)
                self.assert_ends(done, 0)
                said = [line for line in done.lines() if "old.jsonl:1: spread:" in line]
                self.assertEqual(len(said), warnings, done)
                digests.append(self.read_plan()["instance_digest"])
        self.assertEqual(len(set(digests)), 1)

    def test_a_gang_larger_than_the_cluster_waits(self):
        self.write("x.jsonl", JOBS + gang("huge", 1000))
        for ranks in [None, 3]:
            self.assert_ends(self.plan(jobs="x.jsonl", ranks=ranks), 0)
            self.assertRegex(self.reasons()["huge"], "gang too large: 1000 tasks .* holds 8")
            self.assert_valid(jobs="x.jsonl")

    def test_a_task_that_no_machine_holds_is_told_what_it_lacks(self):
        def task(name, what):
            return f'{{"id": "{name}", "tasks": [{{"shape": "w", "count": 1, {what}}}]}}\n'
        self.write("c.yaml", """\
schema: 1
classes:
  a: {gpu_type: A100, gpus: 4, cpu_milli: 8000, memory_mib: 1024}
  thin: {gpu_type: A100, gpus: 1, cpu_milli: 16000, memory_mib: 4096}
pods: [{id: p0, racks: [{id: r0, machines: [{ids: "a[0-1]", class: a}, {ids: t0, class: thin}]}]}]
""")
        self.write("x.jsonl", task("gpus", '"gpus": 5') +
                   task("cpu", '"gpus": 1, "cpu_milli": 16001') +
                   task("memory", '"memory_mib": 4097') +
                   task("all", '"gpus": 2, "cpu_milli": 9000'))
        self.assert_ends(self.plan(jobs="x.jsonl"), 0)
        lacks = {job: reason.split(": ")[1] for job, reason in self.reasons().items()}
        self.assertEqual(lacks, {"gpus": "5 GPUs asked, at most 4",
                                 "cpu": "16001 CPU thousandths asked, at most 16000",
                                 "memory": "4097 MiB of memory asked, at most 4096",
                                 "all": "none has all of it at once"})

    def test_tasks_that_ask_for_nothing_never_start_on_machines_that_are_not_up(self):
        nothing = "".join(f'{{"id": "e{n}", "value": 1, "tasks": [{{}}]}}\n' for n in range(40))
        self.write("x.jsonl", JOBS + nothing)
        self.write("c.yaml", CLUSTER + "machine_states:\n  - {ids: [a0, h0], state: drained}\n")
        for ranks in [None, 3]:
            self.assert_ends(self.plan(jobs="x.jsonl", ranks=ranks), 0)
            self.assert_valid(jobs="x.jsonl")
            placed = self.read_plan()["placements"]
            self.assertEqual({t["machine"] for p in placed for t in p["tasks"]}, {"a1"})
            self.assertEqual(sum(p["job"][0] == "e" for p in placed), 40)

    def test_tasks_that_ask_for_nothing_wait_while_no_machine_is_up(self):
        self.write("x.jsonl", '{"id": "e", "value": 1, "tasks": [{}]}\n')
        self.write("c.yaml", CLUSTER + "machine_states:\n  - {ids: [\"a[0-1]\", h0], state: reserved}\n")
        self.assert_ends(self.plan(jobs="x.jsonl"), 0)
        self.assertEqual(self.reasons(),
                         {"e": "no allowed machine can hold one task 'task': no machine is up"})
        self.assert_valid(jobs="x.jsonl")

    def test_a_task_of_huge_amounts_waits_and_leaves_the_others_alone(self):
        self.write("c.yaml", """\
schema: 1
classes:
  c0: {gpu_type: B, gpus: 2, cpu_milli: 8000, memory_mib: 64, gpu_slices: 7}
  c1: {gpu_type: A, gpus: 3, cpu_milli: 8000, memory_mib: 100, nic_mbps: 200, gpu_slices: 3}
pods: [{id: p0, racks: [{id: r0, machines: [{ids: m0, class: c1}]}]}]
""")
        fits = '{"id": "fits", "tasks": [{"shape": "w", "count": 3, "gpu_milli": 500}]}\n'
        for what in ["cpu_milli", "memory_mib", "nic_mbps"]:
            groups = ", ".join(f'{{"shape": "s{n}", "count": 1000000, "{what}": {2**40}}}'
                               for n in range(9))
            self.write("x.jsonl", f'{{"id": "huge", "tasks": [{{"gpus": 2}}, {groups}]}}\n' + fits)
            for objective in ["allocate", "value"]:
                with self.subTest(what=what, objective=objective):
                    self.assert_ends(self.plan("--objective", objective, jobs="x.jsonl"), 0)
                    self.assertRegex(self.reasons()["huge"], f"hold one task 's0': {2**40} ")
                    self.assert_valid(jobs="x.jsonl")

    def test_a_huge_machine_is_planned_at_a_coarser_scale(self):
        self.write("c.yaml", CLUSTER.replace("262144", str(2**40)))
        self.write("x.jsonl", JOBS.replace('"memory_mib": 64', f'"memory_mib": {2**38}') +
                   "".join(f'{{"id": "t{n}", "value": {2**30}, "tasks": [{{"gpus": 1, '
                           f'"memory_mib": {2**38 + n}}}]}}\n' for n in range(20)))
        self.assert_ends(self.plan(jobs="x.jsonl"), 0)
        self.assert_valid(jobs="x.jsonl")

    def test_values_that_cannot_be_counted_are_refused_with_the_largest_ones_line(self):
        def job(n, gpus):
            return (f'{{"id": "j{n}", "weight": {2**40}, "speed": {{"A100": {2**20}}}, '
                    f'"tasks": [{{"count": {gpus}, "gpus": 1}}]}}\n')
        self.write("x.jsonl", "\n" + "".join(job(n, 8 if n == 56 else 4) for n in range(120)))
        for ranks in [None, 3]:
            self.assert_refused(self.plan(jobs="x.jsonl", ranks=ranks), 2,
                                r"x.jsonl:58: all jobs together are worth more than can be counted")

    def test_a_misspelt_gpu_type_is_asked_about(self):
        self.write("x.jsonl", gang("near", 1, '"gpu_types": ["H10"],') +
                   gang("swapped", 1, '"gpu_types": ["a010"],') +
                   gang("far", 1, '"gpu_types": ["MI300X-OAM"],') +
                   gang("fine", 1, '"gpu_types": ["H10", "H100"],'))
        self.assert_ends(self.plan(jobs="x.jsonl"), 0)
        reasons = self.reasons()
        self.assertEqual(reasons["near"], 'no machine has GPU type H10; did you mean "H100"?')
        self.assertEqual(reasons["swapped"], 'no machine has GPU type a010; did you mean "A100"?')
        self.assertEqual(reasons["far"], "no machine has GPU type MI300X-OAM")
        self.assertNotIn("fine", reasons)
        self.assert_valid(jobs="x.jsonl")

    def test_a_required_job_that_is_missing_has_its_own_code(self):
        self.write("x.jsonl", JOBS + gang("must", 1000, '"required": true,'))
        for ranks in [None, 3]:
            done = self.plan(jobs="x.jsonl", ranks=ranks)
            self.assert_ends(done, 5)
            self.assertIn("1 required jobs are missing", done.out)
            self.assertEqual(self.read_plan()["required_missing"], ["must"])
            self.assert_valid(jobs="x.jsonl")


class OnlineOrder(ProgramTest):
    def write_tasks(self):
        self.write("t.jsonl", "".join(
            f'{{"id": "t{n}", "arrival": {n}, "tasks": [{{"gpus": {1 + n % 3}, '
            f'"cpu_milli": {1000 * (1 + n % 5)}}}]}}\n' for n in range(12)))

    def placed(self):
        return {(p["job"], p["tasks"][0]["machine"]) for p in self.read_plan()["placements"]}

    def test_earlier_jobs_stay_when_more_arrive(self):
        self.write_tasks()
        self.assert_ends(self.plan("--online-order", "--batch", 2, jobs="t.jsonl"), 0)
        self.assert_valid(jobs="t.jsonl")
        whole = self.placed()
        lines = (self.folder / "t.jsonl").read_text().splitlines(keepends=True)
        self.write("some.jsonl", "".join(lines[:6]))
        self.assert_ends(self.plan("--online-order", "--batch", 2, jobs="some.jsonl"), 0)
        self.assert_valid(jobs="some.jsonl")
        self.assertEqual(self.placed(), {p for p in whole if int(p[0][1:]) < 6})

    def test_one_plan_on_any_ranks_with_its_options_on_record(self):
        self.write_tasks()
        digests = set()
        for ranks, threads in [(None, 2), (3, 1)]:
            done = self.plan("--online-order", "--expect", 1.5, "--take-all", "--threads", threads,
                             jobs="t.jsonl", ranks=ranks)
            self.assert_ends(done, 0)
            plan = self.read_plan()
            self.assertEqual([plan["options"][name] for name in ["batch", "expect", "take_all"]],
                             ["1", "1.5", "yes"])
            digests.add((plan["plan_digest"], plan["proof_digest"]))
        self.assertEqual(len(digests), 1)

    def test_what_it_cannot_do_is_refused_by_name(self):
        quota = CLUSTER + "queues:\n  - {id: q, gpu_quota: 4}\n"
        self.write("q.yaml", quota)
        self.write_tasks()
        home = '{"id": "x", "home": {"rack": "r0", "factor": {"cluster": 0.5}}, ' \
               '"tasks": [{"gpus": 1}]}\n'
        self.write("h.jsonl", home)
        for cluster, jobs, words in [("c.yaml", "j.jsonl", 'job "gang" has 2 tasks'),
                                     ("q.yaml", "t.jsonl", 'queue "q" has a quota'),
                                     ("c.yaml", "h.jsonl", 'job "x" is worth more in its home')]:
            for ranks in [None, 3]:
                done = self.plan("--online-order", cluster=cluster, jobs=jobs, ranks=ranks)
                self.assert_ends(done, 2)
                self.assertIn(words, done.err)
        self.assert_ends(self.plan("--batch", 2), 2)  # of what?
        for flags in [["--batch", 0], ["--expect", -1], ["--expect", "nan"],
                      ["--expect", 1, "--expect-load", 1], ["--checkpoint", "x"]]:
            self.assert_ends(self.plan("--online-order", *flags, jobs="t.jsonl"), 2)


class PriorityOrder(ProgramTest):
    def write_tasks(self, priorities):
        self.write("t.jsonl", "".join(
            f'{{"id": "t{n}", "priority": {n % priorities}, "weight": {1 + n % 5}, '
            f'"tasks": [{{"gpus": {1 + n % 3}}}]}}\n' for n in range(24)))

    def test_the_plan_tells_the_figures_of_each_class(self):
        self.write_tasks(3)
        done = self.plan("--order", "priority", jobs="t.jsonl")
        self.assert_ends(done, 0)
        self.assertRegex(done.out, r"priority +2  value .*\n +1  value .*\n +0  value ")
        plan = self.read_plan()
        self.assertEqual(plan["options"]["order"], "priority")
        self.assertEqual([c["priority"] for c in plan["classes"]], [2, 1, 0])
        self.assert_valid(jobs="t.jsonl")

    def test_a_forged_bound_of_a_class_is_refused(self):
        self.write_tasks(3)
        self.assert_ends(self.plan("--order", "priority", jobs="t.jsonl"), 0)
        plan = self.read_plan()
        plan["classes"][1]["upper_bound"] -= 0.5
        self.write("forged.json", json.dumps(plan))
        done = self.check(jobs="t.jsonl", plan="forged.json")
        self.assert_ends(done, 1)
        self.assertIn("upper_bound of the class of priority 1", done.out + done.err)

    def test_too_many_priorities_are_refused_with_a_line(self):
        self.write_tasks(17)
        for ranks in [None, 2]:
            self.assert_refused(self.plan("--order", "priority", jobs="t.jsonl", ranks=ranks), 2,
                                r"t.jsonl:17: priority: the jobs have 17 different priorities")
        self.assert_ends(self.plan("--order", "priority", "--online-order", jobs="t.jsonl"), 2)


class Flags(ProgramTest):
    def setUp(self):
        super().setUp()
        self.generate(gpus=512)

    def test_the_plan_is_the_same_on_any_ranks_and_threads(self):
        digests = set()
        for ranks, threads in [(None, 1), (None, 2), (3, 1)]:
            done = self.plan("--shards", 3, "--seed", 5, "--threads", threads, ranks=ranks)
            self.assert_ends(done, 0)
            plan = self.read_plan()
            self.assertEqual(plan["seed"], 5)
            self.assertEqual(plan["options"]["shards"], "3")
            self.assertEqual(plan["stats"]["shards"], 3)
            self.assertTrue(plan["reproducible"])
            digests.add((plan["plan_digest"], plan["proof_digest"]))
        self.assertEqual(len(digests), 1)
        self.assert_valid()

    def test_extreme_shards_and_seed(self):
        done = self.plan("--shards", 1000000, "--seed", 2**64 - 1, "--threads", 4096)
        self.assert_ends(done, 0)
        self.assertEqual(self.read_plan()["seed"], 2**64 - 1)
        self.assert_valid()

    def test_json_log(self):
        done = self.plan("--shards", 2, "--log-format", "json", "--verbose", ranks=3)
        self.assert_ends(done, 0)
        records = [json.loads(line) for line in done.lines()]
        self.assertEqual({r["event"] for r in records}, {"note", "progress"})
        progress = [r for r in records if r["event"] == "progress"]
        self.assertLessEqual({"relax", "round", "certify"}, {r["stage"] for r in progress})
        for record in progress:
            self.assertLessEqual(set(record), {"event", "seconds", "stage", "round", "objective",
                                               "upper_bound", "gap", "blocks", "conflicts", "seconds_left",
                                               "importance", "gain", "bids", "commits",
                                               "refusals", "messages", "bytes", "slowest_rank",
                                               "slowest_seconds", "mean_seconds", "kind"})
            self.assertGreaterEqual(record["seconds"], 0)
        plan = self.read_plan()
        self.assertEqual(progress[-1]["objective"], plan["objective"])
        self.assertEqual(progress[-1]["upper_bound"], plan["upper_bound"])

    def test_errors_in_a_json_log_are_json(self):
        for ranks in [None, 3]:
            done = self.plan("--log-format", "json", jobs="no-\udcff.jsonl", ranks=ranks)
            self.assert_ends(done, 2)
            self.assertEqual(len(done.lines()), 1, done)
            record = json.loads(done.lines()[0])
            self.assertEqual((record["event"], record["exit_code"]), ("error", 2))
            self.assertRegex(record["text"], "no-.*: cannot read: No such file")

    def test_quiet_and_progress(self):
        for flags, shown in [([], False), (["--progress"], True), (["--quiet"], False),
                             (["--quiet", "--progress"], False), (["--verbose"], True),
                             (["--log-format", "json", "--quiet"], False)]:
            with self.subTest(flags=flags):
                done = self.plan(*flags)
                self.assert_ends(done, 0)
                self.assertEqual("certify" in done.err, shown, done)
                self.assertEqual(done.err == "", not shown, done)
                self.assertIn("% of all" if "allocate" in flags else "objective", done.out)

    def test_progress_where_a_terminal_reads_even_under_mpiexec(self):
        for ranks in [None, 2]:
            master, slave = pty.openpty()
            running, command = self.launch("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                           "--out", "plan.json", "--effort", 4, "--gap", 0,
                                           "--time-limit", "1h", ranks=ranks, stderr=slave)
            os.close(slave)
            told = b""
            try:
                while piece := os.read(master, 4096):
                    told += piece
            except OSError:  # the other side is closed
                pass
            os.close(master)
            self.assert_ends(finish(running, command), 0)
            lines = told.decode().splitlines()
            self.assertRegex(lines[0], "^ +time +stage .* left$", told)
            self.assertTrue(any("certify" in line for line in lines), told)
            self.assertEqual([line for line in lines if len(line) > 80], [])

    def test_a_log_without_a_reader_costs_no_plan(self):
        read, write = os.pipe()
        os.close(read)
        for flags in [["--progress"], ["--log-format", "json"]]:
            running, command = self.launch("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                           "--out", "plan.json", *flags, stderr=write)
            running.communicate(timeout=60)
            self.assertEqual(running.returncode, 0, command)
            self.assert_valid()
            (self.folder / "plan.json").unlink()
        os.close(write)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulations: the checker agrees and finds planted faults, digests, jobs left out, usage."""
import csv
import json
import math
import os
import pathlib
import random
import re
import signal
import time
from unittest import mock
from xml.etree import ElementTree

from program import ProgramTest, finish, main


ONE_MACHINE = """\
schema: 1
classes: {a: {gpu_type: A, gpus: 8}}
pods: [{id: p0, racks: [{id: r0, machines: [{ids: "a0", class: a}]}]}]
"""


class SimulateTest(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(7)
        at, lines = 0, []
        for number in range(120):
            at += draw.randrange(60)
            size = draw.choice([{"gpus": 1}, {"gpus": 2}, {"gpus": 4}, {"count": 6, "gpus": 1},
                                {"gpu_milli": 300}])
            job = {"id": f"j{number}", "arrival": at, "tasks": [size],
                   "duration": draw.randrange(1, 900), "speed": {"H100": 1.7}}
            job["limit"] = 2 * job["duration"]
            if number % 4 == 0:
                job["deadline"] = at + 4000
            lines.append(json.dumps(job) + "\n")
        self.write("j.jsonl", "".join(lines))

    def simulate(self, *more, policy="fifo", out="run", **how):
        return self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--policy", policy,
                          "--out", out, *more, **how)

    def check_run(self, out="run"):
        return self.berth("check", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--run", out)

    def summary(self, out="run"):
        return json.loads((self.folder / out / "summary.json").read_text())

    def test_the_checker_agrees_on_every_policy(self):
        for policy in ["fifo", "best-fit", "easy", "conservative", "sjf", "sjf-backfill", "wspt",
                       "srtf", "srsf", "las", "drf", "fgd", "max-min", "max-sum", "pop-4", "berth"]:
            for more in [], ["--estimates", "noisy", "--restart-cost", "30"], \
                    ["--estimates", "history"]:
                self.assert_ends(self.simulate(*more, policy=policy), 0)
                done = self.check_run()
                self.assert_ends(done, 0)
                self.assertIn("run is VALID", done.out)
                self.assertEqual(self.summary()["figures"]["finished"], 120)

    def test_the_same_digest_on_any_number_of_ranks(self):
        digests = set()
        for ranks in None, 1, 2:
            self.assert_ends(self.simulate(policy="srsf", ranks=ranks), 0)
            digests.add(self.summary()["run_digest"])
        self.assertEqual(len(digests), 1)

    def test_berth_does_not_depend_on_ranks_and_threads(self):
        for preemption in "on", "off":
            digests = set()
            for ranks, threads in (None, "1"), (None, "2"), (2, "1"):
                with mock.patch.dict(os.environ, OMP_NUM_THREADS=threads):
                    self.assert_ends(self.simulate("--preemption", preemption, policy="berth",
                                                   ranks=ranks), 0)
                rounds = (self.folder / "run/rounds.csv").read_text()
                digests.add((self.summary()["run_digest"], rounds))
            self.assertEqual(len(digests), 1)

    def test_rounds_of_prices_and_their_gaps(self):
        done = self.simulate(policy="berth")
        self.assert_ends(done, 0)
        self.assertRegex(done.out, r"with a round of prices +\d+ of .* mean gap [\d.]+ %")
        with open(self.folder / "run/rounds.csv", encoding="utf-8") as file:
            rounds = list(csv.DictReader(file))
        self.assertGreater(len(rounds), 3)
        for row in rounds:
            cost, bound = float(row["cost"]), float(row["bound"])
            self.assertLessEqual(bound, cost * (1 + 1e-8))
            expected = 1 - bound / cost if cost else 0
            self.assertAlmostEqual(float(row["gap"]), expected, delta=2e-6)
        self.assertGreater(max(float(row["gap"]) for row in rounds), 0)
        self.assert_ends(self.simulate(policy="fifo"), 0)
        self.assertFalse((self.folder / "run/rounds.csv").exists())

    def test_bounds_are_below_the_mean(self):
        done = self.simulate("--bound", policy="srsf")
        self.assert_ends(done, 0)
        bounds = [float(found) for found in re.findall(r"bound, .* s +([\d.]+) \(", done.out)]
        self.assertEqual(len(bounds), 2)
        self.assertLessEqual(bounds[1], self.summary()["figures"]["jct_mean"])
        self.assertGreater(bounds[1], 0)

    def online(self, lines, *more):
        """Starts by job, and the figures, of Berth on one machine of 8 GPUs."""
        self.write("one.yaml", ONE_MACHINE)
        self.write("j.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.assert_ends(self.berth("simulate", "one.yaml", "j.jsonl", "--policy", "berth", "--out",
                                    "run", *more), 0)
        self.assert_ends(self.berth("check", "one.yaml", "j.jsonl", "--run", "run"), 0)
        records = map(json.loads, (self.folder / "run/jobs.jsonl").read_text().splitlines())
        return {r["job"]: r["runs"][0]["start"] for r in records}, self.summary()["figures"]

    def test_the_objective_value_counts_utilities_and_deadlines(self):
        long = {"id": "a", "tasks": [{"shape": "w", "gpus": 8}], "duration": 100, "value": 5}
        for late in [{"deadline": 120}, {"utility": {"steps": [[0, 1], [120, 0]]}},
                     {"utility": {"linear": [[0, 1], [100, 1], [101, 0]]}}]:
            with self.subTest(late=late):
                lines = [long, {**long, "id": "b", **late}]
                starts, figures = self.online(lines)
                self.assertEqual((starts, figures["value"]), ({"a": 0, "b": 100e6}, 5))
                starts, figures = self.online(lines, "--objective", "value")
                self.assertEqual((starts, figures["value"]), ({"b": 0, "a": 100e6}, 10))
        for more, ignored in [[], True], [["--objective", "value"], False]:
            done = self.berth("simulate", "one.yaml", "j.jsonl", "--policy", "berth", "--out", "run",
                              *more)
            self.assertEqual("ignores: value" in done.err, ignored, done)
        # what is lost already waits for what is not, however short it is
        gone = {**long, "id": "gone", "arrival": 1, "duration": 10, "deadline": 50}
        lines = [long, {**long, "id": "b", "arrival": 1}, gone]
        starts, _ = self.online(lines)
        self.assertLess(starts["gone"], starts["b"])
        starts, figures = self.online(lines, "--objective", "value")
        self.assertLess(starts["b"], starts["gone"])
        self.assertEqual(figures["value"], 10)

    def test_the_objective_allocate_keeps_gpus_in_use(self):
        lines = [{"id": name, "tasks": [{"shape": "w", "gpus": gpus}], "duration": duration}
                 for name, gpus, duration in [("a", 3, 100), ("b", 3, 100), ("c", 5, 100),
                                              ("d", 5, 110)]]
        starts, figures = self.online(lines, "--objective", "allocate")
        self.assertEqual(starts, {"a": 0, "d": 0, "b": 100e6, "c": 130e6})  # 30 s after b's start
        others, less = self.online(lines)
        self.assertEqual(others, {"a": 0, "b": 0, "c": 100e6, "d": 200e6})
        self.assertGreater(figures["allocation"], less["allocation"])

    def test_objectives_without_preemption_stop_nothing(self):
        for objective in "flow", "makespan", "value", "allocate":
            with self.subTest(objective=objective):
                self.assert_ends(self.simulate("--objective", objective, "--preemption", "off",
                                               policy="berth"), 0)
                self.assert_ends(self.check_run(), 0)
                self.assertEqual(self.summary()["figures"]["preemptions"], 0)
        self.assert_ends(self.simulate("--objective", "makespan", policy="berth"), 0)
        self.assert_ends(self.check_run(), 0)

    def test_fair_is_max_min(self):
        digests = set()
        for policy, more in ("max-min", []), ("berth", ["--objective", "fair"]), ("pop-1", []):
            self.assert_ends(self.simulate(*more, policy=policy), 0)
            digests.add(self.summary()["run_digest"])
        self.assertEqual(len(digests), 1)
        self.assert_ends(self.simulate("--round", "60", policy="max-min", ranks=2), 0)
        self.assertEqual(self.summary()["options"]["round"], "60")
        self.assertNotIn(self.summary()["run_digest"], digests)
        for name in "pop-0", "pop-x", "pop-1025":
            self.assert_refused(self.simulate(policy=name), 2, ".*number of parts")

    def test_an_unknown_policy_is_told_the_nearest_of_all(self):
        for name, nearest in {"max-mim": "max-min", "pop4": "pop-4", "bert": "berth",
                              "ons": "ones", "berth-elastik": "berth-elastic"}.items():
            self.assert_refused(self.simulate(policy=name), 2, f'.*did you mean "{nearest}"')
        self.assert_refused(self.simulate(policy="something-else"), 2, ".*no policy")

    def test_plots_show_the_series_and_are_the_same_again(self):
        self.assert_ends(self.simulate(policy="srsf"), 0)
        rows = [list(map(float, line.split(",")))
                for line in (self.folder / "run/series.csv").read_text().splitlines()[1:]]
        interval = rows[1][0] - rows[0][0]

        def lines_of(name):
            root = ElementTree.parse(self.folder / "run" / name).getroot()
            plot = next(g for g in root.iter("{http://www.w3.org/2000/svg}g"))
            x0, x1, y1 = (float(plot.get(f"data-{end}")) for end in ("x0", "x1", "y1"))
            found = {}
            for line in plot.iter("{http://www.w3.org/2000/svg}polyline"):
                points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
                found[line.get("data-name")] = [(x0 + (x1 - x0) * x / 600, y1 * (1 - y / 300))
                                                for x, y in points]
            return found, (x1 - x0) / 600, y1 / 300  # and what a hundredth of a pixel is 0.01 of

        for name, line, column in ("utilisation.svg", "allocated", 1), \
                ("queue.svg", "running", 2), ("queue.svg", "waiting", 3):
            found, wide, high = lines_of(name)
            points = found[line]
            self.assertEqual(len(points), 2 * len(rows))
            unit = points[-1][0] / (rows[-1][0] + interval)
            for row, (x, y), (end, _) in zip(rows, points[::2], points[1::2]):
                self.assertAlmostEqual(x, row[0] * unit, delta=0.02 * wide)
                self.assertAlmostEqual(end, (row[0] + interval) * unit, delta=0.02 * wide)
                self.assertAlmostEqual(y, row[column], delta=0.02 * high)
        records = [json.loads(line)
                   for line in (self.folder / "run/jobs.jsonl").read_text().splitlines()]
        times = sorted((r["runs"][-1]["end"] - r["arrival"]) / 1e6 for r in records)
        found, wide, _ = lines_of("jct.svg")
        self.assertEqual(len(found["jobs"]), len(times))
        for seconds, (x, _) in zip(times, found["jobs"]):
            self.assertAlmostEqual(x, math.log10(seconds), delta=0.02 * wide)
        plots = {name: (self.folder / "run" / name).read_bytes()
                 for name in ("utilisation.svg", "queue.svg", "jct.svg")}
        self.assert_ends(self.simulate(policy="srsf", out="again", ranks=2), 0)
        for name, content in plots.items():
            self.assertEqual((self.folder / "again" / name).read_bytes(), content)

    def test_a_sweep_is_the_same_on_any_number_of_ranks(self):
        files = {}
        for ranks in None, 2, 3:
            out = f"sweep{ranks}"
            done = self.simulate("--sweep", "--seeds", "1,2", "--loads", "0.5,1.25", "--estimates",
                                 "noisy", policy="fifo,srsf,berth", out=out, ranks=ranks)
            self.assert_ends(done, 0)
            root = self.folder / out
            files[ranks] = {str(path.relative_to(root)): path.read_bytes()
                            for path in root.rglob("*") if path.is_file()}
        self.assertEqual(files[None], files[2])
        self.assertEqual(files[None], files[3])
        table = json.loads(files[None]["sweep.json"])["replays"]
        self.assertEqual([row["replay"] for row in table][:5],
                         ["fifo-seed1-load0.5", "fifo-seed1-load1.25", "fifo-seed2-load0.5",
                          "fifo-seed2-load1.25", "srsf-seed1-load0.5"])
        self.assertEqual(len(table), 12)
        head, *lines = files[None]["sweep.csv"].decode().splitlines()
        for row, line in zip(table, lines, strict=True):
            cells = dict(zip(head.split(","), line.split(","), strict=True))
            run = json.loads(files[None][row["replay"] + "/summary.json"])
            self.assertEqual(row["figures"], run["figures"])
            self.assertEqual(row["run_digest"], run["run_digest"])
            self.assertEqual(cells["run_digest"], run["run_digest"])
            self.assertEqual(float(cells["jct_mean"]), run["figures"]["jct_mean"])
            self.assertAlmostEqual(row["load"], float(row["replay"].rpartition("load")[2]), delta=0.02)
        self.assertGreater(table[5]["figures"]["delay_mean"], table[4]["figures"]["delay_mean"])
        self.assertNotEqual(table[4]["run_digest"], table[6]["run_digest"])  # seeds of estimates
        for load in "0.5", "1.25":
            done = self.berth("check", "--cluster", "c.yaml", "--jobs", f"sweep2/jobs-load{load}.jsonl",
                              "--run", f"sweep2/berth-seed2-load{load}")
            self.assert_ends(done, 0)
            self.assertIn("run is VALID", done.out)

    def test_a_sweep_without_lists_is_the_single_run(self):
        self.assert_ends(self.simulate(policy="las"), 0)
        self.assert_ends(self.simulate("--sweep", policy="las", out="sweep"), 0)
        self.assertEqual(self.summary(), self.summary("sweep/las-seed1"))

    def test_sweeps_that_have_no_meaning_are_refused(self):
        self.assert_refused(self.simulate("--seeds", "1,2"), 2, ".*add --sweep")
        self.assert_refused(self.simulate("--sweep", policy="fifo,nosuch"), 2, '.*no policy "nosuch"')
        self.assert_refused(self.simulate("--sweep", policy="fifo,fifo"), 2, ".*given twice")
        self.assert_refused(self.simulate("--sweep", "--bound"), 2, ".*neither checkpoints nor bounds")
        self.write("j.jsonl", '{"id":"a","duration":5,"tasks":[{"gpus":1}]}\n')
        self.assert_refused(self.simulate("--sweep", "--loads", "1"), 2, ".*arrive at one moment")

    def test_imported_profiles_set_the_speed(self):
        data = pathlib.Path(__file__).resolve().parent.parent / "data/profiles/elasticflow"
        done = self.berth("import", "elasticflow-profiles", "--profiles", data, "--out-profiles",
                          "p.jsonl")
        self.assert_ends(done, 0)
        self.assertIn("2 profiles of 5 of 9 measurements", done.out)
        self.assertIn("skipped 1: batches without any rate", done.out)
        self.write("j.jsonl", "".join(
            json.dumps({"id": name, "duration": 90, "gpu_types": ["A100"],
                        "tasks": [{"gpus": gpus}]}) + "\n" for name, gpus in (("a", 1), ("b", 4))))
        with open(self.folder / "p.jsonl", "a", encoding="utf-8") as file:
            for name in "a", "b":
                file.write(json.dumps({"job": name, "profile": "tiny b256", "reference": 3}) + "\n")
        self.assert_ends(self.simulate("--profiles", "p.jsonl"), 0)
        ends = [json.loads(line)["runs"][-1]["end"]
                for line in (self.folder / "run/jobs.jsonl").read_text().splitlines()]
        self.assertEqual(ends, [90_000_000, 30_000_000])  # 4 GPUs are three times as fast
        listed = self.berth("import", "--list").out
        for name in "elasticflow-profiles", "gavel-profiles", "pollux-profiles":
            self.assertIn(name, listed)

    def planter(self):
        """Of a sound run: a function that changes its records and expects the checker to say so."""
        path = self.folder / "run/jobs.jsonl"
        sound = path.read_text().splitlines()

        def fault(change, pattern):
            records = [json.loads(line) for line in sound]
            change(records)
            path.write_text("".join(json.dumps(one) + "\n" for one in records))
            done = self.check_run()
            self.assert_ends(done, 1)
            self.assertRegex(done.out, pattern)

        return fault

    def test_the_checker_finds_planted_faults(self):
        self.assert_ends(self.simulate(policy="easy"), 0)
        fault = self.planter()

        def earlier(records):
            records[5]["runs"][0]["start"] = records[5]["arrival"] - 1

        def everywhere(records):
            for record in records:
                if record["gpu_milli"] == 4000:
                    record["runs"][0]["tasks"][0]["machine"] = "a0"

        def longer(records):
            records[3]["runs"][0]["work"] += 5000000

        def fewer(records):
            big = next(r for r in records if len(r["runs"][0]["tasks"]) > 1)
            big["runs"][0]["tasks"].pop()

        fault(earlier, "starts before it arrived")
        fault(everywhere, "takes more of machine a0 than is free")
        fault(longer, "more than the clock allows")
        fault(fewer, "runs without all its tasks")
        fault(lambda records: records.pop(), "has no record")
        fault(lambda records: records[0].update(work=1), "has other work")

    def test_the_checker_finds_a_wrong_figure(self):
        self.assert_ends(self.simulate(), 0)
        summary = self.summary()
        summary["figures"]["jct_p95"] += 1
        (self.folder / "run/summary.json").write_text(json.dumps(summary))
        done = self.check_run()
        self.assert_ends(done, 1)
        self.assertIn("figure jct_p95", done.out)

    def write_running(self):
        """Two machines of 4 GPUs. At second 1000 a and b run, b until 1300; c waits since 200."""
        self.write("c.yaml", "schema: 1\nclasses:\n  g: {gpu_type: H100, gpus: 4}\npods:\n  - id: p\n"
                             '    racks: [{id: r, machines: [{ids: "m[0-1]", class: g}]}]\n')
        place = [{"machine": "m1", "gpus": [{"index": g} for g in range(4)]}]
        rows = [{"id": "a", "arrival": 100, "duration": 2000, "tasks": [{"gpus": 4}],
                 "running": {"since": 1000, "tasks": place}},
                {"id": "b", "arrival": 0, "duration": 900, "tasks": [{"gpus": 3}],
                 "running": {"remaining": 300, "tasks": [
                     {"machine": "m0", "gpus": [{"index": g} for g in (0, 2, 3)]}]}},
                {"id": "c", "arrival": 200, "duration": 50, "tasks": [{"gpus": 2}]},
                {"id": "d", "arrival": 1010, "duration": 50, "tasks": [{"gpus": 1}], "after": ["c"]},
                {"id": "late", "arrival": 0, "duration": 20, "tasks": [{"gpus": 1}], "running": {
                    "since": 10, "tasks": [{"machine": "m0", "gpus": [{"index": 1}]}]}}]
        self.write("j.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def starts(self):
        return {record["job"]: [run["start"] // 1_000_000 for run in record["runs"]]
                for record in map(json.loads,
                                  (self.folder / "run/jobs.jsonl").read_text().splitlines())}

    def test_jobs_that_run_hold_their_places(self):
        self.write_running()
        for policy in "fifo", "easy", "conservative", "drf", "fgd", "sjf", "max-min", "berth":
            more = ["--preemption", "off"] if policy == "berth" else []
            done = self.simulate(*more, policy=policy)
            self.assert_ends(done, 0)
            self.assertNotIn("ignores", done.err)
            self.assert_ends(self.check_run(), 0)
            starts = self.starts()
            self.assertEqual([starts[name][0] for name in ("a", "b", "late")], [1000, 400, 980])
            self.assertEqual(starts["c"][0], 1300)  # in place of b: one GPU is free before
            self.assertEqual(starts["d"][0], 1350)
        for policy in "srsf", "las", "berth":
            self.assert_ends(self.simulate(policy=policy), 0)
            self.assert_ends(self.check_run(), 0)
            self.assertLess(self.starts()["c"][0], 1310)

    def test_a_run_from_running_jobs_goes_on_from_a_checkpoint(self):
        self.write_running()
        self.assert_ends(self.simulate("--now", "1100", policy="berth"), 0)
        whole = self.summary()["run_digest"]
        self.assertEqual(self.starts()["b"][0], 500)
        more = ["--now", "1100", "--checkpoint", "k"]
        self.assert_ends(self.simulate(*more, "--stop-at", "1200", policy="berth"), 3)
        self.assert_ends(self.simulate("--now", "1100", "--resume", "k", policy="berth"), 0)
        self.assertEqual(self.summary()["run_digest"], whole)

    def test_a_running_job_without_room_is_named(self):
        self.write_running()
        text = (self.folder / "j.jsonl").read_text()
        self.write("j.jsonl", text.replace('{"index": 1}', '{"index": 2}'))
        self.assertNotEqual(self.simulate().code, 0)

    RULES = [{}, {"exclusive": "machine"}, {"labels": ["x"]}, {"not_with": ["x"]},
             {"max_tasks_per": {"machine": 1}}, {"min_domains": {"machine": 2}}]

    def write_ruled(self, keys=("exclusive", "labels", "not_with", "max_tasks_per", "min_domains")):
        """60 jobs with rules in turn, of which only these keys are written."""
        draw = random.Random(5)
        self.write("c.yaml", "schema: 1\nclasses:\n  g: {gpu_type: H100, gpus: 4}\n"
                   "  h: {gpu_type: A100, gpus: 4}\npods:\n  - id: p\n    racks: [{id: r, machines: ["
                   '{ids: "a[0-2]", class: g}, {ids: "b[0-2]", class: h}]}]\n')
        at, lines = 0, []
        for number in range(60):
            at += draw.randrange(120)
            rules = {key: value for key, value in self.RULES[number % 6].items() if key in keys}
            lines.append(json.dumps({
                "id": f"j{number}", "arrival": at, "duration": draw.randrange(10, 900),
                "speed": {"A100": 0.6}, "tasks": [{"gpus": 1, "count": 2}], **rules}))
        self.write("j.jsonl", "\n".join(lines) + "\n")

    def test_rules_about_machines_are_kept_and_judged(self):
        self.write_ruled()
        for policy in ["fifo", "best-fit", "easy", "conservative", "sjf", "srsf", "las", "drf", "fgd",
                       "max-min", "berth"]:
            done = self.simulate(policy=policy)
            self.assert_ends(done, 0)
            self.assertNotIn("ignores", done.err)
            self.assert_ends(self.check_run(), 0)
        self.write_ruled(keys=[])
        self.assert_ends(self.simulate(policy="best-fit"), 0)
        for keys, fault in [(["exclusive"], "beside job j.*; exclusive does not allow that"),
                            (["labels", "not_with"], "beside job j.*; not_with does not allow that"),
                            (["max_tasks_per"], "breaks max_tasks_per or min_domains"),
                            (["min_domains"], "breaks max_tasks_per or min_domains")]:
            self.write_ruled(keys)
            done = self.check_run()  # the run of the same jobs without rules
            self.assert_ends(done, 1)
            self.assertRegex(done.out, fault)

    def test_schedulers_that_choose_machines_refuse_rules_about_them(self):
        self.write_ruled()
        for policy in "pd-ors", "sjf-bco", "ones":
            self.assert_refused(self.simulate(policy=policy), 2, ".*does not respect: rules about")

    def test_pinned_jobs_run_and_end_where_they_are(self):
        self.write_running()
        self.write("c.yaml", (self.folder / "c.yaml").read_text() + 
                   "machine_states: [{ids: m1, state: drained}]\n")
        rows = [json.loads(line) for line in (self.folder / "j.jsonl").read_text().splitlines()]
        rows[1]["running"]["pinned"] = True
        rows[1]["exclusive"] = "machine"
        rows[4]["running"]["pinned"] = True
        self.write("j.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        for policy in "fifo", "easy", "conservative", "srsf", "las", "max-min", "fgd", "berth":
            self.assert_ends(self.simulate(policy=policy), 0)
            self.assert_ends(self.check_run(), 0)
            starts = self.starts()
            self.assertEqual([starts[name] for name in ("a", "b", "late")], [[1000], [400], [980]])
            self.assertEqual(starts["c"], [1300])  # not beside b, and never on m1

    def test_ignored_keys_are_named(self):
        self.write_running()
        rows = [json.loads(line) for line in (self.folder / "j.jsonl").read_text().splitlines()]
        rows[0]["running"]["stop_cost"] = 3
        rows[2].update(priority=2, value=7, required=True, width_factor={"cluster": 0.5},
                       home={"rack": "r", "factor": {"cluster": 0.5}},
                       utility={"linear": [[0, 1], [9, 0]]},
                       communication={"pattern": "ring", "gbps": 1})
        self.write("j.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        done = self.simulate()
        self.assert_ends(done, 0)
        self.assertIn("warning: a simulation ignores: home, width_factor, communication, priority, "
                      "required, value, utility, running.stop_cost and .move_cost\n", done.err)
        self.assertEqual(self.simulate("--sweep", out="many").err.count("a simulation ignores"), 1)

    def test_licenses_are_counted_and_judged(self):
        self.write("c.yaml", "schema: 1\nclasses:\n  g: {gpu_type: H100, gpus: 4}\npods:\n  - id: p\n"
                             '    racks: [{id: r, machines: [{ids: "a[0-1]", class: g}]}]\n'
                             "licenses: {cad: 2}\n")
        self.write("j.jsonl", "".join(
            json.dumps({"id": f"j{n}", "duration": 100 + n, "arrival": n, "tasks": [{"gpus": 1}],
                        "licenses": {"cad": 3 if n == 5 else 1}}) + "\n" for n in range(6)))
        for policy in "fifo", "easy", "conservative", "srsf", "drf", "max-min", "berth":
            done = self.simulate(policy=policy)
            self.assert_ends(done, 0)
            self.assertIn("job j5 takes more licenses than there are", done.err)
            self.assertNotIn("ignores", done.err)
            self.assert_ends(self.check_run(), 0)
            self.assertGreaterEqual(self.summary()["figures"]["makespan"], 302)

        def at_once(records):
            for record in records[:3]:
                run = record["runs"][0]
                run["end"] += record["arrival"] - run["start"]
                run["start"] = record["arrival"]

        self.assert_ends(self.simulate(), 0)
        self.planter()(at_once, "jobs take more licenses cad than there are")

    def test_jobs_that_cannot_run_are_named_and_the_others_run(self):
        self.write("j.jsonl", '{"id":"ok","duration":5,"tasks":[{"gpus":1}]}\n'
                              '{"id":"endless","tasks":[{"gpus":1}]}\n'
                              '{"id":"huge","duration":5,"tasks":[{"gpus":1,"count":99}]}\n')
        done = self.simulate()
        self.assert_ends(done, 0)
        self.assertIn("endless has neither duration nor limit", done.err)
        self.assertIn("huge fits no machines", done.err)
        self.assertEqual(self.summary()["figures"]["finished"], 1)
        self.assert_ends(self.check_run(), 0)

    def write_world(self):
        self.write("f.jsonl", '{"machine":"a0","from":2000,"to":2600}\n'
                              '{"machine":"r1","from":3000,"to":3300}\n')
        rows = [{"gpu_type": t, "gpus": g, "per_second": g * v}
                for t, v in (("A100", 10), ("H100", 17)) for g in (1, 2, 4)]
        rows.append({"gpu_type": "A100", "gpus": 4, "extra_machines": 1, "per_second": 21})
        lines = [{"profile": "t", "model": "throughput", "rows": rows},
                 {"profile": "r", "model": "ring", "gradient_gbit": 1, "backward": 0.1, "batch": 8,
                  "reduce_gbps": 80, "forward_per_sample": 0.001},
                 {"links": {"internal_gbps": 100, "external_gbps": 10, "sharing": "duty"}}]
        for line in (self.folder / "j.jsonl").read_text().splitlines():
            job = json.loads(line)
            shape = job["tasks"][0]
            if shape.get("count") == 6:
                lines.append({"job": job["id"], "profile": "r"})
            elif "gpus" in shape:
                lines.append({"job": job["id"], "profile": "t"})
        self.write("p.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        return ["--profiles", "p.jsonl", "--failures", "f.jsonl", "--interference", "0.1",
                "--checkpoint-every", "100"]

    def test_speeds_and_failures_under_every_policy(self):
        world = self.write_world()
        failures = 0
        for policy in ["fifo", "easy", "conservative", "srsf"]:
            for more in [], ["--slot", "60"]:
                self.assert_ends(self.simulate(*world, *more, policy=policy), 0)
                done = self.check_run()
                self.assert_ends(done, 0)
                figures = self.summary()["figures"]
                self.assertEqual(figures["finished"], 120)
                self.assertGreater(figures["contention_slowdown"], 1)
                failures += figures["failures"]
        self.assertGreater(failures, 0)

    def test_drawn_failures_in_seconds_and_in_units(self):
        digests = {}
        for mtbf, mttr in [("1800", "60"), ("30m", "1m"), ("1800s", "60s"), ("1h", "60")]:
            self.assert_ends(self.simulate("--mtbf", mtbf, "--mttr", mttr, policy="easy"), 0)
            self.assertIn("run is VALID", self.check_run().out)
            self.assertGreater(self.summary()["figures"]["failures"], 0)
            digests[mtbf] = self.summary()["run_digest"]
        self.assertEqual(digests["1800"], digests["30m"])
        self.assertEqual(digests["1800"], digests["1800s"])
        self.assertNotEqual(digests["1800"], digests["1h"])
        self.assertIn("--mtbf", self.berth("simulate", "--mtbf", "0", "c.yaml", "j.jsonl").err)

    def test_the_checker_finds_faults_of_rates_and_failures(self):
        self.assert_ends(self.simulate(*self.write_world(), policy="easy"), 0)
        path = self.folder / "run/jobs.jsonl"
        sound = path.read_text().splitlines()

        fault = self.planter()

        def slower(records):
            run = next(r for one in records for r in one["runs"] if r.get("rates"))
            for step in run["rates"]:
                step[1] /= 4

        fault(slower, "more than the clock allows")
        path.write_text("\n".join(sound) + "\n")
        self.write("run/failures.jsonl", '{"machine":"p0","from":1000,"to":1100}\n')
        done = self.check_run()
        self.assert_ends(done, 1)
        self.assertIn("runs on a machine that is down", done.out)

    def test_a_simulation_goes_on_from_its_checkpoint(self):
        world = self.write_world()
        for policy in ["easy", "conservative", "las", "berth"]:
            self.assert_ends(self.simulate(*world, policy=policy), 0)
            whole = self.summary()["run_digest"]
            done = self.simulate(*world, "--checkpoint", "k", "--stop-at", "2300", policy=policy,
                                 out="none")
            self.assert_ends(done, 3)
            self.assertFalse((self.folder / "none").exists())
            self.assert_ends(self.simulate(*world, "--resume", "k", policy=policy), 0)
            self.assertEqual(self.summary()["run_digest"], whole)
        self.assert_refused(self.simulate("--resume", "k", policy="las"), 2,
                            ".*made from other files or options")

    def test_a_signal_leaves_a_checkpoint(self):
        lines = [json.dumps({"id": f"j{n}", "arrival": 5 * n, "duration": 1 + n * 7 % 50,
                             "tasks": [{"gpus": 1 + n % 4}]}) + "\n" for n in range(30000)]
        self.write("j.jsonl", "".join(lines))
        begin = time.monotonic()
        self.assert_ends(self.simulate(policy="srsf"), 0)
        seconds = time.monotonic() - begin
        whole = self.summary()["run_digest"]
        for part in [0.5, 0.4, 0.6, 0.3, 0.7, 0.2] * 2:  # it may have ended, or not yet begun
            running, command = self.launch("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                           "--policy", "srsf", "--out", f"cut-{part}",
                                           "--checkpoint", "k")
            time.sleep(part * seconds)
            running.send_signal(signal.SIGTERM)
            done = finish(running, command)
            if done.code == 3:
                break
        self.assert_ends(done, 3)
        self.assert_ends(self.simulate("--resume", "k", policy="srsf"), 0)
        self.assertEqual(self.summary()["run_digest"], whole)

    def test_quotas_and_dependencies_are_kept(self):
        text = (self.folder / "c.yaml").read_text()
        self.write("c.yaml", text + "queues:\n  - {id: q, gpu_quota: 4}\n"
                                    "windows:\n  - {machines: h0, from: 100, to: 900, kind: maintenance}\n")
        lines = [json.loads(line) for line in (self.folder / "j.jsonl").read_text().splitlines()]
        for number, job in enumerate(lines):
            if number % 3 == 0 and job["tasks"][0].get("count") != 6:
                job["queue"] = "q"
            if number % 5 == 4:
                job["after"] = [lines[number - 1]["id"]]
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in lines))
        for policy in ["easy", "srtf", "conservative"]:
            self.assert_ends(self.simulate(policy=policy), 0)
            done = self.check_run()
            self.assert_ends(done, 0)

    def test_usage(self):
        self.assert_refused(self.simulate(policy="esay"), 2, '.*did you mean "easy"')
        self.assert_ends(self.simulate("--restart-cost", "-1"), 2)
        self.assert_ends(self.berth("check", "--cluster", "c.yaml", "--jobs", "j.jsonl"), 2)
        self.write("file", "")
        self.assert_ends(self.simulate(out="file/run"), 4)


if __name__ == "__main__":
    main()

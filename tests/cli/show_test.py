#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth show` and `berth diff` tell what is in the files, and refuse plans of other files."""
import json

from program import JOBS, ProgramTest, main

WAITS = '{"id": "large", "tasks": [{"shape": "worker", "count": 9, "gpus": 4}]}\n'


class Show(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("j.jsonl", JOBS + WAITS)
        self.assert_ends(self.plan(), 0)
        self.sound = self.read_plan()

    def tell(self, command, *words, code=0, **how):
        done = self.berth(command, *words, "--cluster", "c.yaml", "--jobs", "j.jsonl", **how)
        self.assert_ends(done, code)
        return done

    def row(self, text, name):
        return next(line for line in text.splitlines() if line.startswith(name)).split()

    def test_sums_are_those_of_the_plan(self):
        text = self.tell("show", "plan.json", "--by", "pod,machine").out
        for table in text.split("\n\n")[1:]:
            total = self.row(table, "total")
            self.assertEqual(int(total[2]), self.sound["gpus_total"])
            self.assertAlmostEqual(float(total[5]) * 1000, self.sound["gpu_milli_allocated"])

    def test_default_tables_name_types_pods_and_reasons(self):
        text = self.tell("show", "plan.json").out
        self.assertIn("12 GPUs (8 A100, 4 H100)", text)
        self.assertIn("1 waiting", text)
        self.assertEqual(self.row(text, "1   ")[:2], ["1", "36"])
        self.assertIn("gang too large", text)

    def test_the_next_plan_keeps_what_this_one_started(self):
        for extra in (["--move-cost", "1"], ["--pinned"]):
            self.tell("running", "plan.json", "--stop-cost", "1", *extra, "--out-jobs", "n.jsonl")
            lines = [json.loads(line) for line in (self.folder / "n.jsonl").read_text().splitlines()]
            runs = {job["id"]: job["running"] for job in lines if "running" in job}
            placed = {p["job"]: p for p in self.sound["placements"]}
            self.assertEqual(runs.keys(), placed.keys())
            for job, now in runs.items():
                self.assertEqual(sorted(t["machine"] for t in now["tasks"]),
                                 sorted(t["machine"] for t in placed[job]["tasks"]))
                self.assertEqual("pinned" in now, extra == ["--pinned"])
            again = self.berth("plan", "--cluster", "c.yaml", "--jobs", "n.jsonl", "--out", "n.json")
            self.assert_ends(again, 0)
            change = self.berth("diff", "n.json", "--cluster", "c.yaml", "--jobs", "n.jsonl").out
            for word in ("placed", "stopped", "moved"):
                self.assertEqual(self.row(change, word)[1], "0")

    def test_a_plan_against_itself_keeps_all(self):
        text = self.tell("diff", "plan.json", "plan.json").out
        placed = len(self.sound["placements"])
        self.assertEqual(self.row(text, "kept")[1], str(placed))
        for name in ["placed", "stopped", "moved"]:
            self.assertEqual(self.row(text, name)[1], "0")

    def test_files_by_position_are_those_by_name(self):
        files = ["c.yaml", "j.jsonl"]
        for plans in [["plan.json"], ["plan.json", "plan.json"]]:
            by_position = self.berth("diff", *plans, *files)
            self.assert_ends(by_position, 0)
            self.assertEqual(by_position.out, self.tell("diff", *plans).out)
        one_named = self.berth("diff", "plan.json", "c.yaml", "--jobs", "j.jsonl")
        self.assertEqual(one_named.out, self.tell("diff", "plan.json").out)

    def test_a_dash_is_a_stream(self):
        files = ["c.yaml", "j.jsonl"]
        for command in ["show", "explain", "check", "diff"]:
            first, last = (files, []) if command == "check" else ([], files)
            streamed = self.berth(command, *first, "-", *last, stdin="plan.json")
            self.assert_ends(streamed, 0)
            self.assertEqual(streamed.out, self.berth(command, *first, "plan.json", *last).out)
        for command, out in [("running", "--out-jobs"), ("report", "--html")]:
            streamed = self.berth(command, "plan.json", *files, out, "-")
            self.assert_ends(streamed, 0)
            self.assert_ends(self.berth(command, "plan.json", *files, out, "file"), 0)
            self.assertEqual(streamed.out, (self.folder / "file").read_text())
        two = self.berth("generate", "hetero", "--out-cluster", "-", "--out-jobs", "g.jsonl")
        self.assert_ends(two, 2)
        self.assertIn("give each a name", two.err)
        self.assertFalse((self.folder / "-").exists())

    def test_diff_needs_plan_cluster_and_jobs(self):
        for files, word in [(["plan.json"], "--jobs"), (["plan.json", "j.jsonl"], "--cluster")]:
            done = self.berth("diff", *files)
            self.assert_ends(done, 2)
            self.assertIn(word, done.err)
        done = self.berth("diff", *["plan.json"] * 3, "--cluster", "c.yaml", "--jobs", "j.jsonl")
        self.assert_ends(done, 2)
        self.assertIn("3 are given", done.err)

    def test_a_plan_given_as_the_cluster_is_named(self):
        done = self.berth("check", "plan.json", "c.yaml", "j.jsonl")
        self.assert_ends(done, 2)
        self.assertIn("this is a plan", done.err)

    def test_a_plan_against_an_idle_cluster_places_all(self):
        text = self.tell("diff", "plan.json").out
        self.assertEqual(self.row(text, "placed")[1], str(len(self.sound["placements"])))
        gain = float(self.row(text, "placed")[-1])
        self.assertAlmostEqual(gain, self.sound["objective"])

    def test_a_move_is_named_with_both_places(self):
        plan = json.loads(json.dumps(self.sound))
        task = next(p for p in plan["placements"] if p["job"] == "typed")["tasks"][0]
        was = task["machine"]
        task["machine"] = {"a0": "a1", "a1": "a0"}[was]
        self.write("other.json", json.dumps(plan))
        text = self.tell("diff", "plan.json", "other.json").out
        self.assertEqual(self.row(text, "moved")[1], "1")
        self.assertEqual(self.row(text, "  typed")[-3:], [was, "->", task["machine"]])

    def test_yesterdays_plan_is_compared_by_names(self):
        """Today "share-1" has ended, "new" has come, "gang" asks for more, machine a0 is gone."""
        plan = json.loads(json.dumps(self.sound))
        places = {"gang": ["a1", "a1"], "typed": ["a0"], "share-2": ["h0"], "cpu": ["h0"]}
        for placed in plan["placements"]:
            for task, machine in zip(placed["tasks"], places.get(placed["job"], [])):
                task["machine"] = machine
        self.write("yesterday.json", json.dumps(plan))
        self.write("c.yaml", (self.folder / "c.yaml").read_text().replace("a[0-1]", "a[1-2]"))
        jobs = [json.loads(line) for line in JOBS.splitlines() if '"share-1"' not in line]
        jobs[0]["tasks"][0]["count"] = 1
        jobs.append({"id": "new", "tasks": [{"gpus": 4}]})
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        self.assert_ends(self.plan(), 0)
        text = self.tell("diff", "yesterday.json", "plan.json", "--all").out
        self.assertIn("yesterday.json is of other files", text)
        self.assertIn("gone     1 placed jobs, 0.6 GPUs: share-1\n", text)
        self.assertIn("new      1 jobs: new\n", text)
        self.assertIn("changed  2 jobs with other tasks or machines: gang, typed\n", text)
        counts = {word: int(self.row(text, word)[1]) for word in ("placed", "stopped", "moved", "kept")}
        self.assertEqual(counts["placed"], 1)
        self.assertEqual(counts["stopped"], 0)
        self.assertEqual(sum(counts.values()), len(self.read_plan()["placements"]))
        row = self.row(text, "  typed")
        self.assertEqual(row[4:6], ["a0", "->"])
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])
        self.assertIn("other files", self.tell("diff", "plan.json", "yesterday.json", code=2).err)

    def test_explains_why_a_job_waits_and_what_would_let_it_run(self):
        text = self.tell("explain", "plan.json", "--job", "large").out
        self.assertIn("large waits: gang too large", text)
        self.assertIn("needs 9 x 'worker' of 4 GPUs", text)
        self.assertEqual(self.tell("explain", "plan.json").out, text)  # the only one that waits
        placed = self.tell("explain", "plan.json", "--job", "typed").out
        self.assertIn("typed placed on a", placed)
        self.assertNotIn("any of these", placed)
        done = self.tell("explain", "plan.json", "--job", "lagre", code=2)
        self.assertIn('did you mean "large"?', done.err)

    def test_explains_starts_in_time(self):
        jobs = [{"id": f"j{j}", "duration": 600, "tasks": [{"count": 2, "gpus": 4}]} for j in range(2)]
        jobs += [{"id": "late", "duration": 60, "not_before": 3000, "tasks": [{"gpus": 1}]},
                 {"id": "never", "duration": 60, "tasks": [{"gpus": 9}]}]
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        self.assert_ends(self.plan("--horizon", "1h"), 0)
        starts = {p["job"]: p["start"] for p in self.read_plan()["placements"]}
        self.assertEqual(sorted(starts[job] for job in ["j0", "j1"]), [0, 600])
        first, second = sorted(["j0", "j1"], key=starts.get)
        text = self.tell("explain", "plan.json", "--job", second).out
        self.assertIn("starts at 600, 10 min from now; ends at 1200, after 10 min", text)
        self.assertIn(f"GPUs that it takes over from {first}", text)
        self.assertIn("not_before: 3000", self.tell("explain", "plan.json", "--job", "late").out)
        self.assertIn("never waits: ", self.tell("explain", "plan.json").out)
        everything = self.tell("explain", "plan.json", "--all").out
        self.assertEqual([line for line in everything.splitlines() if not line.startswith(" ") and line],
                         [first, second, "late"])

    def test_explains_alike_jobs_once(self):
        self.write("j.jsonl", JOBS + "".join(
            json.dumps({"id": f"l{j}", "weight": 1 + j, "tasks": [{"count": 9, "gpus": 4}]}) + "\n"
            for j in range(3)))
        self.assert_ends(self.plan(), 0)
        text = self.tell("explain", "plan.json", "--all").out
        self.assertEqual(text.count("needs 9 x"), 1, text)
        self.assertRegex(text, "^3 jobs such as l[0-2] wait: gang too large")
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])

    def test_explains_all_with_the_same_bytes_on_any_threads(self):
        waiting = [{"id": f"w{j}", "weight": 1 + j % 7, "tasks": [
            {"count": 1 + j % 5, "gpus": 1 + j % 4, "cpu_milli": j}]} for j in range(60)]
        self.write("j.jsonl", JOBS + "".join(json.dumps(job) + "\n" for job in waiting))
        self.assert_ends(self.plan(), 0)
        told = [self.tell("explain", "plan.json", "--all", env={"OMP_NUM_THREADS": str(threads)}).out
                for threads in (1, 2, 4)]
        self.assertGreater(told[0].count(" waits: "), 40)
        self.assertEqual(told, [told[0]] * 3)

    def test_refuses_a_plan_of_other_files(self):
        self.write("j.jsonl", JOBS)
        for command in ["show", "diff", "explain"]:
            done = self.tell(command, "plan.json", code=2)
            self.assertIn("plan.json", done.err)
            self.assertIn("other files", done.err)


if __name__ == "__main__":
    main()

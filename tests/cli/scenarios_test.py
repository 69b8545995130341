#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench/scenarios`: every class is made, planned and accepted by the judge; its tables."""
import json
import os
import pathlib
import subprocess
import sys

from program import BERTH, PATIENCE, ProgramTest, main

RUN = pathlib.Path(__file__).resolve().parents[2] / "bench/scenarios/run"
CLASSES = 81


class Scenarios(ProgramTest):
    def scenarios(self, *arguments):
        return subprocess.run([sys.executable, RUN, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE)

    def rows(self, name):
        return list(map(json.loads, (self.folder / name).read_text().splitlines()))

    def test_every_class_is_planned(self):
        done = self.scenarios("plan", "out.jsonl", "--berth", BERTH, "--sizes", 64)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.rows("out.jsonl")
        self.assertEqual(len({row["class"] for row in rows}), CLASSES)
        self.assertIn("VALID", done.stdout)
        self.assertIn(f"{CLASSES:6}", self.scenarios("summary", "out.jsonl").stdout)

    def test_equal_seeds_make_equal_files(self):
        for folder in ["a", "b"]:
            self.scenarios("make", folder, "production", "--sizes", 512, "--seeds", "1,2")
        files = {name: (self.folder / name).read_bytes()
                 for folder in "ab" for seed in (1, 2)
                 for name in [f"{folder}/production-512-{seed}/jobs.jsonl"]}
        self.assertEqual(files["a/production-512-1/jobs.jsonl"], files["b/production-512-1/jobs.jsonl"])
        self.assertNotEqual(files["a/production-512-1/jobs.jsonl"], files["a/production-512-2/jobs.jsonl"])

    def test_compares_two_files(self):
        for name in ["before.jsonl", "after.jsonl"]:
            self.scenarios("plan", name, "one_rack", "load080", "--berth", BERTH, "--sizes", 64)
        [first, second] = self.rows("after.jsonl")
        self.write("after.jsonl", json.dumps(first | {"gap": first["gap"] + 0.01}) + "\n"
                   + json.dumps(second) + "\n")
        lines = self.scenarios("compare", "before.jsonl", "after.jsonl").stdout.splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertTrue(lines[1].startswith("one_rack"), lines)
        self.assertIn("2 plans in both (0 in one only or without a plan): 0 better, 1 worse", lines[2])

    def test_plans_the_largest_gaps_with_more_effort(self):
        self.scenarios("plan", "before.jsonl", "one_rack", "load080", "--berth", BERTH, "--sizes", 64)
        [first, second] = self.rows("before.jsonl")
        self.write("before.jsonl", json.dumps(first) + "\n" + json.dumps(second | {"gap": 0.5}) + "\n")
        done = self.scenarios("effort", "before.jsonl", "after.jsonl", "--berth", BERTH, "--most", 1,
                              "--time-limit", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [after] = self.rows("after.jsonl")
        self.assertEqual(after["class"], "load080")
        self.assertIn("max", after["flags"])
        self.assertIn("1 of 1 halved", done.stdout)

    def test_a_plan_that_contradicts_a_bound_is_a_failure(self):
        """A program that claims more than the cluster can earn."""
        boast = self.write("boast", f"""#!{sys.executable}
import json, pathlib, subprocess, sys
done = subprocess.run([{os.fspath(BERTH)!r}, *sys.argv[1:]])
if sys.argv[1] == "plan":
    path = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
    plan = json.loads(path.read_text())
    path.write_text(json.dumps(plan | {{"objective": 2 * plan["objective"]}}))
sys.exit(done.returncode if sys.argv[1] == "plan" else 0)
""")
        boast.chmod(0o755)
        done = self.scenarios("plan", "out.jsonl", "zero_waste", "--berth", boast, "--sizes", 64)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("which no plan exceeds", done.stdout)

    def test_an_unknown_class_is_refused(self):
        done = self.scenarios("plan", "out.jsonl", "tensor7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown classes tensor7", done.stderr)


main()

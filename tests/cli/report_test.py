#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth report`: the numbers of the page are those of the plan, and the page needs nothing else."""
import base64
import hashlib
import json
import re

from program import JOBS, ProgramTest, main

WAITS = '{"id": "large", "tasks": [{"shape": "worker", "count": 9, "gpus": 4}]}\n'


class Report(ProgramTest):
    def report(self, name="page.html", code=0, jobs="j.jsonl"):
        done = self.berth("report", "plan.json", "--cluster", "c.yaml", "--jobs", jobs,
                          "--html", name)
        self.assert_ends(done, code)
        return (self.folder / name).read_text() if code == 0 else done

    def figures(self, page):
        found = re.findall(r'<data data-figure="([^"]*)" value="([^"]*)">', page)
        return {name: float(value) for name, value in found}

    def planned(self, *more, jobs=JOBS + WAITS):
        self.write("j.jsonl", jobs)
        self.assert_ends(self.plan(*more), 0)
        return self.read_plan()

    def test_numbers_are_those_of_the_plan(self):
        plan = self.planned()
        told = self.figures(self.report())
        for name, key in [("objective", "objective"), ("bound", "upper_bound"), ("gap", "gap"),
                          ("gpus_total", "gpus_total"), ("jobs_placed", "jobs_placed")]:
            self.assertAlmostEqual(told[name], plan[key], 9, name)
        self.assertAlmostEqual(1000 * told["gpus_planned"], plan["gpu_milli_allocated"])
        self.assertEqual(told["jobs_waiting"], len(plan["waiting"]))
        self.assertEqual(told["gpus_total"], told["gpus_usable"] + told["gpus_closed"])

    def test_parts_of_a_gap_sum_to_it(self):
        self.generate(gpus=512)
        self.assert_ends(self.plan(), 0)
        plan, told = self.read_plan(), self.figures(self.report())
        parts = sum(value for name, value in told.items() if name.startswith("gap_parts."))
        whole = plan["upper_bound"] - plan["objective"]
        self.assertAlmostEqual(parts, whole, delta=0.02 * whole)

    def test_needs_nothing_else_and_permits_its_own_script_only(self):
        self.planned()
        page = self.report()
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:,)', page), [])
        self.assertNotIn(" style=", page)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for element in ["script", "style"]:
            text = re.search(f"<{element}>(.*?)</{element}>", page, re.DOTALL).group(1)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{element}-src 'sha256-{digest}'", policy)

    def test_same_input_gives_the_same_bytes(self):
        self.planned()
        self.assertEqual(self.report("a.html"), self.report("b.html"))

    def test_shows_a_plan_in_time(self):
        self.planned("--horizon", "1h", jobs="".join(
            json.dumps({"id": f"j{j}", "duration": 1200, "tasks": [{"gpus": 4}]}) + "\n"
            for j in range(7)))
        told = self.figures(self.report())
        plan = self.read_plan()
        self.assertAlmostEqual(told["objective"], plan["objective"])
        self.assertEqual(told["jobs_now"] + told["jobs_later"], len(plan["placements"]))
        self.assertIn('<section id="time"', self.report())

    def simulated(self):
        jobs = [{"id": f"j{j}", "duration": 600, "arrival": 10 * j, "tasks": [{"gpus": 4}]}
                for j in range(9)]
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        self.assert_ends(self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                    "--policy", "fifo", "--out", "run"), 0)

    def report_of_run(self, code=0):
        done = self.berth("report", "run", "c.yaml", "j.jsonl", "--html", "page.html")
        self.assert_ends(done, code)
        return (self.folder / "page.html").read_text() if code == 0 else done

    def test_shows_a_simulation_with_the_figures_of_its_summary(self):
        self.simulated()
        page = self.report_of_run()
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        told = self.figures(page)
        for name, value in summary["figures"].items():
            self.assertAlmostEqual(told[name], value, 9, name)
        self.assertEqual(page.count("<g><title>"), summary["figures"]["finished"])
        self.assertIn("script-src 'none'", page)
        self.assertNotIn("<script", page)
        self.assertIn(summary["run_digest"], page)
        self.assertEqual(page, self.report_of_run())

    def test_refuses_a_simulation_of_other_files(self):
        self.simulated()
        self.write("j.jsonl", JOBS)
        self.assertRegex(self.report_of_run(code=2).err, "run/summary.json: .*other files")

    def test_counts_moves_of_jobs_that_run(self):
        self.write("j.jsonl", JOBS)
        self.assert_ends(self.plan(), 0)
        self.assert_ends(self.berth("running", "plan.json", "--cluster", "c.yaml", "--jobs",
                                    "j.jsonl", "--move-cost", "1", "--out-jobs", "n.jsonl"), 0)
        self.assert_ends(self.plan(jobs="n.jsonl"), 0)
        told = self.figures(self.report(jobs="n.jsonl"))
        self.assertEqual((told["moves.kept"], told["moves.moved"]), (told["jobs_placed"], 0))

    def test_refuses_a_plan_of_other_files_and_keeps_the_page(self):
        self.planned()
        self.write("page.html", "old")
        self.write("j.jsonl", JOBS)
        self.assertIn("other files", self.report(code=2).err)
        self.assertEqual((self.folder / "page.html").read_text(), "old")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans in time against a time-indexed mixed integer program of the same jobs, solved by cbc.

x[j, t] = 1 when job j starts at second t (Sousa and Wolsey 1992). One machine, so that GPUs in sum
are all that jobs compete for.
"""
import json
import random
import re
import subprocess

from program import ProgramTest, main

GPUS = 8
SECONDS = 6  # of cbc; its bound counts, whether it ends or not


def drawn_jobs(seed, count):
    draw = random.Random(seed)
    return [{"id": f"j{i}", "duration": draw.randint(1, 9), "weight": draw.randint(1, 9),
             "not_before": draw.choice([0, 0, draw.randint(0, 20)]),
             "tasks": [{"gpus": draw.choice([1, 1, 2, 2, 3, 4, 8])}]} for i in range(count)]


def program_text(jobs, end, cost, optional):
    """CPLEX LP text. @param cost  of a start of a job at a second"""
    starts = {(j, t): cost(job, t) for j, job in enumerate(jobs)
              for t in range(job["not_before"], end - job["duration"] + 1)}
    lines = ["Minimize", " obj:"]
    lines += [f" {'+' if c >= 0 else '-'} {abs(c)} x{j}_{t}" for (j, t), c in starts.items()]
    lines.append("Subject To")
    for j, job in enumerate(jobs):
        lines.append(f" job{j}:")
        lines += [f" + x{j}_{t}" for t in range(job["not_before"], end - job["duration"] + 1)]
        lines.append(" <= 1" if optional else " = 1")
    for now in range(end):
        used = [f" + {jobs[j]['tasks'][0]['gpus']} x{j}_{t}" for j, t in starts
                if t <= now < t + jobs[j]["duration"]]
        lines += [f" time{now}:", *used, f" <= {GPUS}"] if used else []
    return "\n".join([*lines, "Binaries", *(f" x{j}_{t}" for j, t in starts), "End", ""])


class HorizonMipTest(ProgramTest):
    def solved(self, text):
        """Best bound and best solution of the program."""
        self.write("m.lp", text)
        out = subprocess.run(["cbc", "m.lp", "sec", str(SECONDS), "solve"], cwd=self.folder,
                             capture_output=True, text=True, timeout=40 * SECONDS,
                             check=True).stdout
        best = float(re.search(r"Objective value:\s*(\S+)", out).group(1))
        bound = re.search(r"Lower bound:\s*(\S+)", out)  # absent: the solution is optimal
        return float(bound.group(1)) if bound else best, best

    def planned(self, jobs, *flags):
        self.write("c.yaml", f"schema: 1\nclasses: {{a: {{gpu_type: A, gpus: {GPUS}}}}}\n"
                   "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: a}]}]}]\n")
        self.write("j.jsonl", "".join(json.dumps(one) + "\n" for one in jobs))
        self.assert_ends(self.plan("--horizon", *flags), 0)
        self.assert_valid()
        return self.read_plan()

    def test_flow(self):
        for seed, count in [(1, 20), (3, 60)]:
            jobs = drawn_jobs(seed, count)
            work = sum(job["duration"] * job["tasks"][0]["gpus"] for job in jobs)
            end = 2 * work // GPUS + 30
            bound, best = self.solved(program_text(
                jobs, end, lambda job, t: job["weight"] * (t + job["duration"]), False))
            plan = self.planned(jobs, "1h", "--objective", "flow")
            with self.subTest(seed=seed, plan=plan["objective"], proved=plan["lower_bound"],
                              mip=(bound, best)):
                self.assertGreaterEqual(plan["objective"], bound - 1e-6)
                self.assertLessEqual(plan["lower_bound"], best + 1e-6)
                self.assertLessEqual(plan["objective"], 1.03 * best)

    def test_value(self):
        for seed, count in [(4, 20), (6, 60)]:
            jobs = drawn_jobs(seed, count)
            end = 30
            bound, best = self.solved(program_text(
                jobs, end, lambda job, t: -job["weight"] * job["tasks"][0]["gpus"], True))
            plan = self.planned(jobs, str(end))
            with self.subTest(seed=seed, plan=plan["objective"], proved=plan["upper_bound"],
                              mip=(bound, best)):
                self.assertLessEqual(plan["objective"], -bound + 1e-6)
                self.assertGreaterEqual(plan["upper_bound"], -best - 1e-6)
                self.assertGreaterEqual(plan["objective"], 0.97 * -best)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module src/python/berth.py: plans, faults and refusals as Python values."""
import pathlib
import sys

from program import ProgramTest, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "python"))
import berth  # noqa: E402

CLUSTER = {"schema": 1, "classes": {"g": {"gpu_type": "A", "gpus": 4}},
           "pods": [{"id": "p", "racks": [{"id": "r", "machines": [{"ids": "m[1-2]", "class": "g"}]}]}]}
JOBS = [{"id": "pair", "tasks": [{"count": 2, "gpus": 3}]}, {"id": "part", "tasks": [{"gpu_milli": 500}]},
        {"id": "large", "tasks": [{"count": 3, "gpus": 4}]}]


class Module(ProgramTest):
    def test_plan_is_that_of_the_program(self):
        plan = berth.plan(CLUSTER, JOBS, gap="1%", seed=3, quiet=True, verbose=False)
        self.assertEqual(plan.placed["pair"].machines, ["m1", "m2"])
        self.assertEqual([len(task.gpus) for task in plan.placed["pair"].tasks], [3, 3])
        self.assertEqual(list(plan.placed["part"].tasks[0].gpus.values()), [500])
        self.assertIn("gang too large", plan.waiting["large"])
        self.assertEqual((plan.objective, plan.content["seed"], plan.cut_short), (6.5, 3, False))
        self.assertGreaterEqual(plan.bound, plan.objective)
        self.assertEqual(berth.check(CLUSTER, JOBS, plan), [])

    def test_files_and_ranks_give_the_same(self):
        self.assert_ends(self.plan(), 0)
        plan = berth.plan(self.folder / "c.yaml", str(self.folder / "j.jsonl"), ranks=2)
        self.assertEqual(plan.content["plan_digest"], self.read_plan()["plan_digest"])

    def test_times_of_a_plan_in_time(self):
        jobs = [{"id": f"j{j}", "duration": 600, "tasks": [{"gpus": 4}]} for j in range(3)]
        plan = berth.plan(CLUSTER, jobs, horizon="1h")
        ends = sorted((p.start, p.end) for p in plan.placed.values())
        self.assertEqual(ends, [(0, 600), (0, 600), (600, 1200)])
        self.assertGreaterEqual(plan.bound, plan.objective)

    def test_faults_are_listed(self):
        plan = berth.plan(CLUSTER, JOBS)
        text = plan.text.replace('"machine":"m1"', '"machine":"m2"')
        faults = berth.check(CLUSTER, JOBS, berth.parse(text))
        self.assertTrue(any(fault.startswith("device_oversubscribed") for fault in faults), faults)

    def test_refusals_are_errors(self):
        with self.assertRaisesRegex(berth.Error, 'did you mean "gpus"') as told:
            berth.plan(CLUSTER, [{"id": "a", "tasks": [{"gpsu": 1}]}])
        self.assertEqual(told.exception.code, berth.BAD_INPUT)
        with self.assertRaisesRegex(berth.Error, "--trheads"):
            berth.plan(CLUSTER, JOBS, trheads=2)


if __name__ == "__main__":
    main()

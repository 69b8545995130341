#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth check` accepts the program's own plan and names every fault planted into it."""
import copy
import json

from program import JOBS, ProgramTest, main


def placement(plan, job):
    return next(p for p in plan["placements"] if p["job"] == job)


def task(plan, job):
    return placement(plan, job)["tasks"][0]


def oversubscribe(plan):
    one, other = task(plan, "share-1"), task(plan, "share-2")
    other["machine"] = one["machine"]
    other["gpus"][0]["index"] = one["gpus"][0]["index"]


def set_device(index):
    def fault(plan):
        task(plan, "typed")["gpus"][0]["index"] = index
    return fault


def move(job, machine):
    def fault(plan):
        task(plan, job)["machine"] = machine
    return fault


def split(plan):
    placement(plan, "gang")["tasks"].pop()


def repeat(plan):
    plan["placements"].append(copy.deepcopy(placement(plan, "typed")))


def lose(plan):
    plan["placements"].remove(placement(plan, "typed"))


def scale(figure, factor):
    def fault(plan):
        plan[figure] *= factor
    return fault


def negative_price(plan):
    certificate = plan["certificate"]
    if certificate["pools"]:
        certificate["pools"][0]["gpu_milli"] = -5
    else:
        certificate["shapes"][0]["price"] = -5


def add_to(figure, amount):
    def fault(plan):
        plan[figure] += amount
    return fault


def replace(figure, value):
    def fault(plan):
        plan[figure] = value
    return fault


FAULTS = [
    ("device_oversubscribed", oversubscribe),
    ("device_out_of_range", set_device(4)),
    ("device_out_of_range", set_device(-1)),
    ("split_gang", split),
    ("repeated_job", repeat),
    ("lost_job", lose),
    ("wrong_type", move("typed", "h0")),
    ("unknown_machine", move("typed", "a2")),
    ("wrong_objective", scale("objective", 1.01)),
    ("bound_too_low", scale("upper_bound", 0.9)),
    ("negative_price", negative_price),
    ("wrong_gap", add_to("gap", 0.01)),
    ("wrong_gap_parts", lambda plan: plan["gap_parts"].update(basis="capacity")),
    ("wrong_gap_parts", lambda plan: plan["gap_parts"].update(rounding=7.5)),
    ("wrong_gap_parts", lambda plan: plan["gap_parts"].update(quotas=0.01)),
    ("wrong_gap_parts", lambda plan: plan["gap_parts"]["regret"].append(
        {"gpus": 64, "jobs": 1, "amount": 0.5})),
    ("wrong_objective_kind", lambda plan: plan["options"].update(objective="allocate")),
    ("wrong_count", add_to("jobs_placed", 1)),
    ("wrong_required_missing", replace("required_missing", ["gang"])),
    ("other_instance", replace("instance_digest", "0" * 64)),
    ("wrong_plan_digest", replace("plan_digest", "0" * 64)),
    ("wrong_proof_digest", replace("proof_digest", "0" * 64)),
]


class Check(ProgramTest):
    def setUp(self):
        super().setUp()
        # More work than room, so that GPUs have a price.
        self.write("j.jsonl", JOBS + "".join(
            f'{{"id": "more-{i}", "weight": 0.25, "tasks": [{{"shape": "worker", "gpus": 2}}]}}\n'
            for i in range(6)))
        self.assert_ends(self.plan(), 0)
        self.sound = self.read_plan()

    def check_with(self, fault, **how):
        plan = copy.deepcopy(self.sound)
        fault(plan)
        self.write("edited.json", json.dumps(plan))
        return self.check(plan="edited.json", **how)

    def test_accepts_the_plan_written_anew(self):
        for ranks in [None, 3]:
            done = self.check_with(lambda plan: None, ranks=ranks)
            self.assert_ends(done, 0)
            self.assertIn("plan is VALID", done.out)
            self.assertNotIn("fault", done.out)
            self.assertIn(f"{self.sound['objective']:.10g}", done.out)

    def test_takes_files_by_position_and_says_which_are_too_many(self):
        done = self.berth("check", "c.yaml", "j.jsonl", "plan.json")
        self.assert_ends(done, 0)
        self.assertEqual(done.out, self.check().out)
        done = self.berth("check", "c.yaml", "j.jsonl", "plan.json", "more.json")
        self.assert_refused(done, 2, "more.json: one name too many")

    def test_names_every_planted_fault(self):
        for name, fault in FAULTS:
            with self.subTest(name=name, fault=fault.__qualname__):
                done = self.check_with(fault)
                self.assert_ends(done, 1)
                self.assertIn(f"fault {name}: ", done.out)
                self.assertIn("plan is INVALID", done.out)
                self.assertEqual(done.err, "")

    def test_shows_control_characters_of_the_plan_as_text(self):
        done = self.check_with(lambda plan: plan["placements"][0].update(
            job="\x1b[31m\nplan is VALID\u009b2J"))
        self.assert_ends(done, 1)
        self.assertNotRegex(done.out, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertNotIn("\nplan is VALID", done.out)
        self.assertIn(r"\x1b[31m\x0aplan is VALID\xc2\x9b2J", done.out)

    def test_refuses_a_tree_of_any_size(self):
        def grow(plan):
            plan["certificate"]["tree"] = [{"parent": 0, "rest": True}] * 20_000
        self.assert_refused(self.check_with(grow), 2,
                            "edited.json: certificate.tree: more than 16384 nodes")

    def test_ends_all_ranks_with_one(self):
        done = self.check_with(split, ranks=3)
        self.assert_ends(done, 1)
        self.assertEqual(done.out.count("plan is INVALID"), 1, done)

    def test_the_plan_of_another_instance(self):
        self.write("other.jsonl", JOBS)
        done = self.check(jobs="other.jsonl")
        self.assert_ends(done, 1)
        self.assertIn("fault other_instance: ", done.out)


TWO_RACKS = """\
schema: 1
classes:
  a: {gpu_type: A100, gpus: 8}
  b: {gpu_type: H100, gpus: 8}
pods:
  - {id: p0, racks: [{id: r0, machines: [{ids: "m[0-1]", class: a}]}]}
  - {id: p1, racks: [{id: r1, machines: [{ids: "m[2-3]", class: a}]}]}
  - {id: p2, racks: [{id: r2, machines: [{ids: "m[4-23]", class: b}]}]}
"""

# Worth 3.5 at best; prices of jobs alone prove 3.75. The idle H100s make the cluster too large for
# the judge's search and its GPUs too many for a choice of whole jobs; the jobs on them are too many
# for a search over places.
GANG_OR_THREE = "".join(
    f'{{"id": "small-{i}", "value": 1, "gpu_types": ["A100"], "tasks": [{{"gpus": 8}}]}}\n'
    for i in range(3)
) + (
    '{"id": "gang", "value": 1.5, "domain": "rack", "gpu_types": ["A100"],'
    ' "tasks": [{"gpus": 8, "count": 2}]}\n'
) + "".join(
    f'{{"id": "idle-{i}", "value": 0, "gpu_types": ["H100"], "tasks": [{{"gpus": 1}}]}}\n'
    for i in range(64)
)


def leave_a_case_out(tree):
    for node in tree:
        node.pop("rest", None)
    next(node for node in tree if node.get("spots")).pop("spots")


def nowhere_else(tree):
    child = next(node for node in tree if node.get("out"))
    del child["out"]


def let_it_stay_out(tree):
    node = next(n for n in tree if any(price < 0 for _, price in n.get("prices", [])))
    for n in tree:
        n.pop("out", None)
    node["out"] = True


class CheckTree(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("c.yaml", TWO_RACKS)
        self.write("j.jsonl", GANG_OR_THREE)

    def test_a_tree_of_cases_proves_the_best_plan(self):
        self.assert_ends(self.plan("--tree-nodes", 0), 0)
        self.assertGreater(self.read_plan()["upper_bound"], 3.74)
        self.assert_ends(self.plan(), 0)
        plan = self.read_plan()
        self.assertEqual(plan["objective"], 3.5)
        self.assertLess(plan["upper_bound"], 3.52)
        self.assertGreater(plan["stats"]["leaves"], 1)
        self.assert_valid()

    def test_a_tree_that_leaves_something_out_is_refused(self):
        self.assert_ends(self.plan(), 0)
        sound = self.read_plan()
        for fault in [leave_a_case_out, nowhere_else, let_it_stay_out]:
            with self.subTest(fault=fault.__name__):
                plan = copy.deepcopy(sound)
                fault(plan["certificate"]["tree"])
                self.write("edited.json", json.dumps(plan))
                done = self.check(plan="edited.json")
                self.assert_ends(done, 1)
                self.assertIn("fault incomplete_tree: ", done.out)


main()

# SPDX-License-Identifier: Apache-2.0
"""`import slurm` and `apply slurm` on saved files; a live Slurm is in tests/slurm."""
import json
import os
import unittest

from program import ProgramTest, main

GPU_NODE = {"cpus": 8, "real_memory": 1000, "threads": 1, "gres": "gpu:a100:4", "features": "",
            "partitions": ["gpu"], "state": ["IDLE"]}
JOB = {"job_state": ["PENDING"], "partition": "gpu", "priority": 7, "tasks": 1, "cpus": 1,
       "node_count": 1, "max_nodes": 0, "time_limit": {"set": True, "number": 30}}


class Slurm(ProgramTest):
    def setUp(self):
        super().setUp()
        self.save([{"name": "n0"}, {"name": "n1"}],
                  [{"job_id": 7, "tres_per_node": "gres/gpu:4"},
                   {"job_id": 8, "tres_per_node": "gres/gpu:4"},
                   {"job_id": 9, "priority": 0}])

    def save(self, nodes, jobs):
        self.write("nodes.json", json.dumps({"nodes": [GPU_NODE | node for node in nodes]}))
        self.write("jobs.json", json.dumps({"jobs": [JOB | job for job in jobs]}))

    def import_slurm(self, *more):
        return self.berth("import", "slurm", "--nodes", "nodes.json", "--jobs", "jobs.json",
                          "--out-cluster", "c.yaml", "--out-jobs", "j.jsonl", "--out-state",
                          "s.json", *more)

    def apply(self, *how, files=("--nodes", "nodes.json", "--jobs", "jobs.json")):
        return self.berth("apply", "slurm", "--plan", "plan.json", "--import-state", "s.json",
                          *files, *how)

    def planned(self):
        self.assert_ends(self.import_slurm(), 0)
        self.assert_ends(self.plan(), 0)

    def test_import_says_what_it_took_and_what_it_left(self):
        done = self.import_slurm()
        self.assert_ends(done, 0)
        self.assertIn("2 machines (0 drained or reserved), 8 GPUs", done.out)
        self.assertIn("2 jobs that wait, 0 that run", done.out)
        self.assertIn("left to Slurm 1: is held (first: 9)", done.out)

    def test_apply_prints_or_writes_a_command_for_each_job(self):
        self.planned()
        done = self.apply("--dry-run", "--script", "pin.sh")
        self.assert_ends(done, 0)
        placed = {p["job"]: p["tasks"][0]["machine"] for p in self.read_plan()["placements"]}
        lines = [f"scontrol update JobId={j} ReqNodeList={m} AdminComment=berth:nodes={m}"
                 for j, m in sorted(placed.items())]
        self.assertEqual(len(lines), 2)
        self.assertEqual(done.out.splitlines()[:2], lines)
        self.assertEqual((self.folder / "pin.sh").read_text().splitlines()[2:], lines)

    def test_starts_of_a_plan_with_a_horizon_become_start_times(self):
        self.save([{"name": "n0"}], [{"job_id": j, "tres_per_node": "gres/gpu:4"} for j in [7, 8]])
        self.assert_ends(self.import_slurm("--times", "--now", "1700000000"), 0)
        times = ("--set", "start,nodes", "--now", "1700000000", "--dry-run")
        os.environ["TZ"] = "UTC"
        try:
            for now, flags in [(1700000000, ("--now", "1700000000")), (0, ())]:
                self.assert_ends(self.plan("--horizon", "2h", "--objective", "flow", *flags), 0)
                order = sorted(self.read_plan()["placements"], key=lambda p: p["start"])
                self.assertEqual([p["start"] - now for p in order], [0, 1800])
                done = self.apply(*times)
                self.assert_ends(done, 0)
                first, second = (p["job"] for p in order)
                self.assertEqual(sorted(done.out.splitlines()[:2]), sorted([
                    f"scontrol update JobId={first} ReqNodeList=n0 StartTime=now "
                    "AdminComment=berth:nodes=n0",
                    f"scontrol update JobId={second} ReqNodeList=n0"
                    " StartTime=2023-11-14T22:43:20 "
                    "'AdminComment=berth:nodes=n0;start=1700001800'"]))
                done = self.apply("--dry-run")  # only what starts now
                self.assertEqual(done.out.splitlines()[0],
                                 f"scontrol update JobId={first} ReqNodeList=n0 "
                                 "AdminComment=berth:nodes=n0")
                self.assertIn("1 jobs to update", done.out)
        finally:
            del os.environ["TZ"]

    def test_apply_refuses_a_plan_that_no_longer_holds(self):
        self.planned()
        self.save([{"name": "n0"}, {"name": "n1"}], [{"job_id": 8, "tres_per_node": "gres/gpu:4"}])
        self.assert_refused(self.apply("--dry-run"), 2,
                            "plan.json: job 7: the cluster changed .*no longer in the queue")
        done = self.apply("--dry-run", "--partial")
        self.assert_ends(done, 0)
        self.assertIn("broken: job 7: is no longer in the queue", done.out)
        self.assertEqual(done.out.count("scontrol update"), 1)

    def test_apply_refuses_a_plan_of_another_import(self):
        self.planned()
        self.save([{"name": "n0"}], [])
        self.assert_ends(self.import_slurm(), 0)
        self.assert_refused(self.apply("--dry-run"), 2, "plan.json: instance_digest: .*another import")

    def test_apply_shows_control_characters_of_the_queue_as_text(self):
        self.planned()
        self.save([{"name": "n0"}, {"name": "n1"}],
                  [{"job_id": 7, "tres_per_node": "gres/gpu:4", "partition": "\x1b]0;owned\x07\nx"}])
        done = self.apply("--dry-run")
        self.assertEqual(done.code, 2, done)
        for text in [done.out, done.err]:
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f]")
        self.assertEqual(len(done.lines()), 1, done)

    def test_apply_refuses_amounts_that_no_plan_has(self):
        self.planned()
        plan = self.read_plan()
        plan["placements"][0]["tasks"][0]["cpu_milli"] = -2**63
        self.write("plan.json", json.dumps(plan))
        done = self.apply("--dry-run")
        self.assertEqual(done.code, 2, done)
        self.assertIn("amounts that no plan has", done.out)

    def test_import_survives_absurd_numbers(self):
        """Under the sanitizers too: no sum overflows."""
        huge = {"set": True, "infinite": False, "number": 2**62}
        for key in ["cpus", "tasks", "time_limit", "node_count", "priority", "submit_time"]:
            with self.subTest(key=key):
                self.save([{"name": "n0"}], [{"job_id": 7, "tres_per_node": "gres/gpu:4", key: huge}])
                self.assertIn(self.import_slurm().code, [0, 2])

    def test_usage(self):
        self.planned()
        self.assert_refused(self.apply(), 2, ".*dry-run")
        self.assert_refused(self.apply("--dry-run", "--commit"), 2, ".*--dry-run and --commit")
        self.assert_refused(self.apply("--dry-run", "--set", "gpus"), 2, ".*gpus not in")
        self.assert_refused(self.import_slurm("--spread", "0.9"), 2, "spread: expected two factors")
        self.assert_refused(self.import_slurm("--partition", "gpus"), 2,
                            'partition: no partition is called "gpus"; did you mean "gpu"')
        done = self.berth("import", "slurm", "--nodes", "nodes.json", "--out-cluster", "c.yaml",
                          "--out-jobs", "j.jsonl")
        self.assert_refused(done, 2, ".*--jobs")

    def test_without_a_slurm_the_message_says_so(self):
        path, os.environ["PATH"] = os.environ["PATH"], str(self.folder)
        try:
            done = self.berth("import", "slurm", "--out-cluster", "c.yaml", "--out-jobs", "j.jsonl")
        finally:
            os.environ["PATH"] = path
        self.assert_refused(done, 2, "scontrol --version: .*--nodes and --jobs take saved files")


if __name__ == "__main__":
    main()

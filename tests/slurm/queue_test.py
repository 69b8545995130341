#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A live queue, there and back: 200 held jobs are imported, planned, applied and released; then they
run where the plan said. And a cluster that changed in between."""
import json
import subprocess
import time

from case import BERTH, SlurmTest, cloud_nodes, main, tree

# GPUs of a job, and how many of 200 ask for so many
SIZES = {1: 90, 2: 30, 4: 30, 8: 30, 16: 10, 32: 6, 64: 4}
RUNS = ("CONFIGURING", "RUNNING", "COMPLETING")


class Queue(SlurmTest):
    bed = {"nodes": [cloud_nodes("c[000-127]", gpus=8, gpu_type="a100")],
           "topology": tree("c", 128, 3, leaf=16),
           "settings": ["SchedulerParameters=default_queue_depth=10000,partition_job_depth=10000,"
                        "bf_interval=1,sched_min_interval=0"]}

    def berth(self, *arguments, code=0):
        done = subprocess.run([BERTH, *map(str, arguments)], cwd=self.folder, env=self.slurm.env,
                              text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def submit(self, gpus, *more):
        shape = ["--nodes=1", f"--gpus-per-node=a100:{gpus}"] if gpus <= 8 else [
            f"--nodes={gpus // 8}", "--gpus-per-node=8"]
        return self.slurm.output("sbatch", "--parsable", "--hold", "--output=/dev/null",
                                 "--time=60", *shape, *more, "--wrap", "true", cwd=self.folder)

    def submit_all(self):
        self.jobs = {}
        # sizes take turns, so that no size comes first
        order = sorted(((rank + 0.5) / count, gpus) for gpus, count in SIZES.items()
                       for rank in range(count))
        for _, gpus in order:
            self.jobs[self.submit(gpus)] = gpus

    def import_and_plan(self, *how):
        self.berth("import", "slurm", "--held", *how, "--out-cluster", "c.yaml", "--out-jobs",
                   "j.jsonl", "--out-state", "state.json")
        self.berth("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--out", "plan.json")
        self.berth("check", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--plan", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        return {p["job"]: {t["machine"] for t in p["tasks"]} for p in plan["placements"]}

    def apply(self, *how, code=0):
        return self.berth("apply", "slurm", "--plan", "plan.json", "--import-state", "state.json",
                          *how, code=code)

    def queue(self):
        """By job: its state and its nodes."""
        found = json.loads(self.slurm.output("squeue", "--json"))["jobs"]
        return {str(j["job_id"]): (j["job_state"], self.expanded(j["nodes"]), j["required_nodes"])
                for j in found}

    def expanded(self, nodes):
        if nodes not in self.known:
            words = self.slurm.output("scontrol", "show", "hostnames", nodes) if nodes else ""
            self.known[nodes] = set(words.split())
        return self.known[nodes]

    def wait_for(self, jobs):
        began = time.monotonic()
        while any(self.queue()[job][0] not in RUNS for job in jobs):
            self.assertLess(time.monotonic() - began, 45, self.slurm.output("squeue"))
            time.sleep(0.5)

    def setUp(self):
        super().setUp()
        self.known = {}
        self.addCleanup(lambda: self.slurm.run("scancel", "--user=" + self.slurm.output("id", "-un")))

    def test_jobs_run_where_the_plan_said(self):
        self.submit_all()
        planned = self.import_and_plan()
        gpus = sum(self.jobs[job] for job in planned)
        self.assertGreaterEqual(gpus, 1000, "of 1024 GPUs")  # 1,110 are asked for
        dry = self.apply("--dry-run")
        self.assertEqual(dry.stdout.count("scontrol update JobId="), len(planned))
        queue = self.queue()
        self.assertEqual({queue[job][2] for job in self.jobs}, {""})  # nothing was done
        self.apply("--commit")
        self.slurm.run("scontrol", "release", ",".join(planned))
        self.wait_for(planned)
        queue = self.queue()
        for job in self.jobs:
            state, nodes, _ = queue[job]
            self.assertEqual(nodes, planned.get(job, set()), f"job {job} {state}")

    def test_a_cluster_that_changed_is_refused_by_the_job_it_breaks(self):
        jobs = [self.submit(8), self.submit(16), self.submit(4, "--array=0-1")]
        planned = self.import_and_plan()
        self.assertEqual(set(planned), {jobs[0], jobs[1], f"{jobs[2]}_0", f"{jobs[2]}_1"})
        node = next(iter(planned[jobs[1]]))
        self.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
        done = self.apply("--commit", code=2)
        self.assertIn(f"job {jobs[1]}", done.stderr)
        self.assertIn(f"{node} is down or drained", done.stderr)
        self.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self.slurm.run("scontrol", "update", f"JobId={jobs[0]}", "TimeLimit=30")
        done = self.apply("--commit", code=2)
        self.assertIn(f"job {jobs[0]}: the cluster changed since the import: its time_limit was 60",
                      done.stderr)
        done = self.apply("--partial", "--script", "pin.sh")
        self.assertEqual(done.stdout.count("broken: "), 1, done.stdout)
        self.slurm.run("sh", "pin.sh", cwd=self.folder)
        pinned = {job: self.slurm.job(job)["ReqNodeList"] for job in planned}
        self.assertEqual(pinned.pop(jobs[0]), "(null)")
        for job, nodes in pinned.items():
            self.assertEqual(self.expanded(nodes), planned[job])

    def test_what_runs_is_planned_around(self):
        taken = self.slurm.output("sbatch", "--parsable", "--output=/dev/null", "--time=60",
                                  "--nodes=127", "--gpus-per-node=8", "--wrap", "true",
                                  cwd=self.folder)
        self.slurm.wait(taken, states=RUNS)
        left = {f"c{n:03d}" for n in range(128)} - self.queue()[taken][1]
        fits, waits = self.submit(8), self.submit(16)
        self.assertEqual(self.import_and_plan(), {fits: left}, f"not {waits}")


main()

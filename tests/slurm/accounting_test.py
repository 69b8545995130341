#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm with slurmdbd, accounts, fairshare and QOS: jobs at a limit of their association or QOS stay
with Slurm, and a plan by priority serves QOS and shares in Slurm's order."""
import json
import subprocess
import sys
import time

from case import BERTH, SlurmTest, cloud_nodes, main, testbed

WHY = testbed.missing(with_accounting=True)
if WHY:
    print(f"skipped: {WHY}")
    sys.exit(77)
RUNS = ("CONFIGURING", "RUNNING", "COMPLETING")


class Accounting(SlurmTest):
    bed = {"nodes": [cloud_nodes("c[0-3]", gpus=8, gpu_type="a100")],
           "settings": ["SchedulerParameters=bf_interval=1,sched_min_interval=0"],
           "associations": [
               ["add", "qos", "high", "Priority=100"],
               ["add", "qos", "low", "Priority=1"],
               ["add", "qos", "one", "GrpJobs=1"],
               ["add", "account", "limited", "Fairshare=10", "GrpTRES=gres/gpu=8"],
               ["add", "account", "free", "Fairshare=90"],
               ["add", "account", "last", "Fairshare=0"],
               *[["add", "user", "root", f"Account={account}", "QOS=normal,high,low,one"]
                 for account in ("limited", "free", "last")]]}

    def tearDown(self):
        self.slurm.run("scancel", "--user=root")
        began = time.monotonic()
        while self.slurm.output("squeue", "--noheader"):
            self.assertLess(time.monotonic() - began, 40, "jobs that do not end")
            time.sleep(0.2)

    def berth(self, *arguments):
        done = subprocess.run([BERTH, *arguments], cwd=self.folder, env=self.slurm.env, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def submit(self, account, gpus, *options):
        return self.slurm.output("sbatch", "--parsable", "--output=/dev/null", "--time=60", "-A",
                                 account, "--nodes=1", f"--gpus-per-node={gpus}", *options,
                                 "--wrap", "true", cwd=self.folder)

    def until(self, job, state=None, reason=None):
        began = time.monotonic()
        while True:
            found = self.slurm.job(job)
            if found["JobState"] in (state or ("PENDING",)) and found["Reason"] == (
                    reason or found["Reason"]):
                return
            self.assertLess(time.monotonic() - began, 40, f"{job}: {found}")
            time.sleep(0.2)

    def set_state(self, nodes, state):
        self.slurm.run("scontrol", "update", "NodeName=" + ",".join(nodes), f"State={state}",
                       "Reason=test")

    def imported(self, *flags):
        """What the import tells, of the nodes as in the file `nodes`, and the jobs by id."""
        (self.folder / "jobs").write_text(self.slurm.output("squeue", "--json"))
        told = self.berth("import", "slurm", "--nodes", "nodes", "--jobs", "jobs", "--out-cluster",
                          "c.yaml", "--out-jobs", "j.jsonl", *flags)
        jobs = map(json.loads, (self.folder / "j.jsonl").read_text().splitlines())
        return told, {job["id"]: job for job in jobs}

    def planned(self, order):
        """Ids of the jobs that the plan places."""
        self.berth("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--order", order, "--out",
                   "p.json")
        return {p["job"] for p in json.loads((self.folder / "p.json").read_text())["placements"]}

    def test_shares_of_accounts_order_jobs(self):
        """An account without shares is served last, although its jobs are larger and came first."""
        nodes = [f"c{i}" for i in range(4)]
        (self.folder / "nodes").write_text(self.slurm.output("sinfo", "--all", "--json"))
        self.set_state(nodes, "DRAIN")
        last = [self.submit("last", 8) for _ in range(4)]
        free = [self.submit("free", 5) for _ in range(4)]  # none beside one of 8 or 5 GPUs
        _, jobs = self.imported("--priority-classes", "0")
        slurms = {str(j["job_id"]): j["priority"] for j in json.loads(
            (self.folder / "jobs").read_text())["jobs"] if str(j["job_id"]) in [*last, *free]}
        self.assertEqual({id: jobs[id]["priority"] for id in slurms}, slurms)
        self.assertGreater(min(slurms[id] for id in free), max(slurms[id] for id in last))
        self.assertEqual(self.planned("value"), set(last))  # 32 GPUs rather than 20
        self.assertEqual(self.planned("priority"), set(free))
        self.set_state(nodes, "RESUME")

    def test_limits_are_slurms_and_qos_are_classes(self):
        self.until(self.submit("limited", 8), state=RUNS)
        over = self.submit("limited", 1)
        self.until(self.submit("free", 8, "--qos=one"), state=RUNS)
        second = self.submit("free", 1, "--qos=one")
        self.until(over, reason="AssocGrpGRES")
        self.until(second, reason="QOSGrpJobsLimit")
        # two nodes are free; Slurm must not use them before the plan is made
        idle = self.slurm.output("sinfo", "--all", "--json")
        free = [n["name"] for n in json.loads(idle)["nodes"] if n["state"] == "idle"]
        self.assertEqual(len(free), 2)
        self.set_state(free, "DRAIN")
        low = [self.submit("free", 8, "--qos=low") for _ in range(2)]
        high = self.submit("free", 4, "--qos=high")
        (self.folder / "nodes").write_text(idle)
        told, _ = self.imported()
        self.assertIn("left to Slurm 2: waits for a limit of its association or QOS", told)
        self.assertIn("2 classes of priority: plan with --order priority", told)
        self.assertEqual(self.planned("value"), set(low))  # 16 GPUs rather than 12
        placed = self.planned("priority")
        self.assertEqual(len(placed), 2)
        self.assertIn(high, placed)
        # Slurm itself decides so, too
        self.set_state(free, "RESUME")
        self.until(high, state=RUNS)

main()

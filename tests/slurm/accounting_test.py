#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm with slurmdbd, accounts, fairshare and QOS: jobs at a limit of their association or QOS stay
with Slurm, and a plan by priority serves the QOS in Slurm's order."""
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
               *[["add", "user", "root", f"Account={account}", "QOS=normal,high,low,one"]
                 for account in ("limited", "free")]]}

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
        self.slurm.run("scontrol", "update", "NodeName=" + ",".join(free), "State=DRAIN",
                       "Reason=test")
        low = [self.submit("free", 8, "--qos=low") for _ in range(2)]
        high = self.submit("free", 4, "--qos=high")
        for name, text in [("nodes", idle), ("jobs", self.slurm.output("squeue", "--json"))]:
            (self.folder / name).write_text(text)
        told = self.berth("import", "slurm", "--nodes", "nodes", "--jobs", "jobs", "--out-cluster",
                          "c.yaml", "--out-jobs", "j.jsonl")
        self.assertIn("left to Slurm 2: waits for a limit of its association or QOS", told)
        self.assertIn("2 classes of priority: plan with --order priority", told)
        placed = {}
        for order in ("value", "priority"):
            self.berth("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--order", order,
                       "--out", f"{order}.json")
            plan = json.loads((self.folder / f"{order}.json").read_text())
            placed[order] = {p["job"] for p in plan["placements"]}
        self.assertEqual(placed["value"], set(low))  # 16 GPUs rather than 12
        self.assertEqual(len(placed["priority"]), 2)
        self.assertIn(high, placed["priority"])
        # Slurm itself decides so, too
        self.slurm.run("scontrol", "update", "NodeName=" + ",".join(free), "State=RESUME")
        self.until(high, state=RUNS)

main()

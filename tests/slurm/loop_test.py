#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loop of an admin: 20 cycles of import, plan and apply while jobs arrive and end. Every job runs
in the end, none is stuck on a pin of a cycle before. And what `apply` sets can be taken back."""
import json
import random
import subprocess
import time

from case import BERTH, SlurmTest, cloud_nodes, main, tree

CYCLES = 20
RUNS = ("CONFIGURING", "RUNNING", "COMPLETING")


class Loop(SlurmTest):
    bed = {"nodes": [cloud_nodes("c[00-15]", gpus=8, gpu_type="a100")],
           "topology": tree("c", 16, 2, leaf=4),
           "settings": ["Licenses=matlab:4",
                        "SchedulerParameters=default_queue_depth=10000,bf_interval=1,"
                        "sched_min_interval=0"]}

    def berth(self, *arguments, code=0):
        done = subprocess.run([BERTH, *map(str, arguments)], cwd=self.folder, env=self.slurm.env,
                              text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def submit(self, *options):
        return self.slurm.output("sbatch", "--parsable", "--hold", "--output=/dev/null",
                                 "--time=60", *options, "--wrap", "true", cwd=self.folder)

    def queue(self):
        """Jobs that wait or run, by scontrol's name; squeue tells ended ones for some minutes."""
        return {f"{j['array_job_id']}_{j['array_task_id']}" if j["array_task_id"] is not None
                else str(j["job_id"]): j
                for j in json.loads(self.slurm.output("squeue", "--json"))["jobs"]
                if j["job_state"] in ("PENDING", *RUNS)}

    def plan(self):
        """Places of the plan by job, and what the import said."""
        told = self.berth("import", "slurm", "--held", "--out-cluster", "c.yaml", "--out-jobs",
                          "j.jsonl", "--out-state", "state.json")
        self.berth("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--order", "priority",
                   "--out", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        return {p["job"]: {t["machine"] for t in p["tasks"]} for p in plan["placements"]}, told

    def apply(self, *how):
        return self.berth("apply", "slurm", *how)

    def with_plan(self, *how):
        return self.apply("--plan", "plan.json", "--import-state", "state.json", *how)

    def hosts(self, nodes):
        words = self.slurm.output("scontrol", "show", "hostnames", nodes) if nodes else ""
        return set(words.split())

    def setUp(self):
        super().setUp()
        user = self.slurm.output("id", "-un")
        self.addCleanup(lambda: self.slurm.run("scancel", "--user=" + user))


class Cycles(Loop):
    def draw(self, dice):
        """GPUs by node only: of a cancelled job with --gpus or --gpus-per-task on cloud nodes Slurm
        22.05 never gives the GPUs free again, with or without Berth."""
        gpus = dice.choice([1, 2, 4, 8])
        kinds = [[f"--nodes={dice.choice([1, 2, 4])}", "--gpus-per-node=8"],
                 ["--nodes=2-4", f"--gpus-per-node={gpus}"],
                 ["--nodes=2", "--ntasks=4", "--gpus-per-node=4"],
                 ["--nodes=4", "--gpus-per-node=4", "--switches=1@60:00"],
                 [f"--gpus-per-node={gpus}", "--ntasks=1"],
                 ["--exclusive", "--nodes=1"],
                 ["--nodes=1", f"--gpus-per-node={gpus}", "--licenses=matlab:2"],
                 ["--nodes=1", "--gpus-per-node=2", "--array=0-2%2"]]
        return dice.choice(kinds)

    def waiting(self):
        return [job for job, j in self.queue().items() if j["job_state"] == "PENDING"]

    def end_some(self, dice, share):
        """Jobs on nodes without machines never end by themselves."""
        running = sorted(job for job, j in self.queue().items() if j["job_state"] in RUNS)
        ended = [job for job in running if dice.random() < share]
        if ended:
            self.slurm.run("scancel", *ended)
        began = time.monotonic()
        while left := [job for job in ended if job in self.queue()]:
            if time.monotonic() - began > 30:
                self.fail(f"{left} of {ended}\n" + self.slurm.output("squeue"))
            time.sleep(0.1)
        return ended

    def started(self, placed):
        """Waits until the jobs that the plan placed have started; returns how many did elsewhere."""
        began = time.monotonic()
        while True:
            now = self.queue()
            late = [job for job in placed if now[job]["job_state"] not in RUNS]
            if not late:
                return sum(self.hosts(now[job]["nodes"]) != nodes for job, nodes in placed.items())
            if time.monotonic() - began > 30:
                self.fail("\n".join(self.slurm.output(*words) for words in [
                    ["squeue"], ["sinfo", "-N"], ["cat", self.slurm.folder / "slurmctld.out"],
                    *[["scontrol", "-o", "show", "job", job] for job in late]]))
            time.sleep(0.2)

    def test_of_import_plan_and_apply_start_every_job(self):
        dice, rows, submitted, ended = random.Random(7), [], 0, 0
        for cycle in range(CYCLES + 40):
            arrived = 6 if cycle < CYCLES else 0
            for _ in range(arrived):
                self.submit(*self.draw(dice))
            submitted += arrived
            placed, told = self.plan()
            # every second plan is pinned first and released a cycle later, when it is stale
            pin_only = cycle % 2 == 0 and cycle < CYCLES
            out = self.with_plan("--commit", *([] if pin_only else ["--release"]))
            self.assertNotIn("broken", out)
            self.assertNotIn("left to Slurm", out)
            elsewhere = 0 if pin_only else self.started(placed)
            self.assertEqual(elsewhere, 0, f"cycle {cycle}")
            ended += len(self.end_some(dice, 0.5 if cycle < CYCLES else 1.0))
            renewed = told.count("an earlier apply pinned")
            rows.append((cycle, arrived, len(placed), len(self.waiting()), renewed))
            if cycle >= CYCLES and not self.queue():
                break
        for row in rows:
            print("cycle %2d: %d submitted, %2d placed, %2d wait after it%s"
                  % (*row[:4], ", pins renewed" if row[4] else ""))
        self.assertEqual(self.queue(), {}, "stuck: " + self.slurm.output("squeue"))
        self.assertGreaterEqual(ended, submitted)  # arrays are several jobs
        self.assertTrue(any(row[4] for row in rows))
        self.assertLess(len(rows), CYCLES + 30)


class Pins(Loop):
    def test_are_replaced_and_cleared(self):
        ranged = self.submit("--nodes=2-4", "--gpus-per-node=8")
        asked = self.submit("--nodes=1", "--gpus-per-node=8", "--nodelist=c05")
        plain = self.submit("--nodes=1", "--gpus-per-node=8")
        before = self.queue()
        placed, _ = self.plan()
        self.assertEqual(set(placed), {ranged, asked, plain})
        self.slurm.run("scontrol", "update", f"JobId={plain}", "AdminComment=ticket 7")
        self.with_plan("--commit")
        for job, nodes in placed.items():
            self.assertEqual(self.hosts(self.queue()[job]["required_nodes"]), nodes)
        self.assertIn("NumNodes=2-2", self.slurm.output("scontrol", "-o", "show", "job", ranged))
        # the nodes of the first plan are taken: the next one finds others
        user = self.slurm.output("sbatch", "--parsable", "--output=/dev/null", "--time=60",
                                 f"--nodelist={','.join(sorted(placed[ranged] | placed[plain]))}",
                                 "--gpus-per-node=8", "--wrap", "true", cwd=self.folder)
        self.slurm.wait(user, states=RUNS)
        again, told = self.plan()
        self.assertIn("jobs that an earlier apply pinned: planned anew", told)
        self.assertEqual(set(again), set(placed))
        self.assertFalse(again[ranged] & placed[ranged])
        text = (self.folder / "c.yaml").read_text()
        self.assertLessEqual(text.count("gpu_type"), 2)  # c05 and the others
        self.with_plan("--commit")
        script = self.apply("--clear", "--dry-run")
        self.assertEqual(script.count("scontrol update"), 3)
        self.assertIn("3 pins of earlier plans taken back", self.apply("--clear", "--commit"))
        after = self.queue()
        for job in (ranged, asked, plain):
            for key in ("required_nodes", "node_count", "max_nodes"):
                self.assertEqual(after[job][key], before[job][key], f"{job} {key}")
        self.assertEqual(after[ranged]["admin_comment"], "")
        self.assertEqual(after[plain]["admin_comment"], "ticket 7")
        self.assertIn("0 pins", self.apply("--clear", "--commit"))

    def test_script_pins_and_releases(self):
        job = self.submit("--nodes=1", "--gpus-per-node=8")
        placed, _ = self.plan()
        self.with_plan("--release", "--script", "pin.sh")
        self.slurm.run("sh", "pin.sh", cwd=self.folder)
        self.assertEqual(self.hosts(self.slurm.wait(job, states=RUNS)["NodeList"]), placed[job])

    def test_switches_come_along(self):
        near = self.submit("--nodes=2", "--gpus-per-node=1", "--switches=1@60:00",
                           "--job-name=near Switches=7")
        self.plan()
        [job] = map(json.loads, (self.folder / "j.jsonl").read_text().splitlines())
        self.assertEqual((job["id"], job["domain"]), (near, "rack"))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm/plan.sbatch as a real batch job: planned, cut short by a signal, and with a rank killed."""
import json
import os
import pathlib
import signal
import time

from case import BERTH, MPIEXEC, ROOT, SlurmTest, main, processes, real_node

PLENTY = 32768  # GPUs: still planning when the signal comes
SOME = 16384  # enough for rounds
SRUN = "srun --mpi=pmi2 --kill-on-bad-exit=1"
LAUNCHERS = {"srun": SRUN, "mpiexec": MPIEXEC}


def ranks():
    """Ids of the running ranks, all of them ours: the throw-away slurmd started them."""
    found = []
    for one in processes.descendants():
        try:
            if os.readlink(f"/proc/{one}/exe") == os.path.realpath(BERTH):
                found.append(one)
        except OSError:
            pass  # gone meanwhile
    return sorted(found)


def go_on(stopped):
    for rank in stopped:
        try:
            os.kill(rank, signal.SIGCONT)
        except ProcessLookupError:
            pass  # the launcher was quicker to end it


class BatchTest(SlurmTest):
    bed = {"nodes": [real_node(cpus=4)]}

    def submit(self, *command, name="job", **variables):
        """A job that writes <folder>/<name>/plan.json and <folder>/<name>.log."""
        self.out, self.log = self.folder / name, self.folder / f"{name}.log"
        told = {"BERTH": BERTH, "OUT": self.out, "PLAN_OPTIONS": "--verbose --progress",
                "LAUNCH": SRUN, **variables}
        return self.slurm.output(*command, variables=told, cwd=ROOT)

    def sbatch(self, *options, name="job", **variables):
        return self.submit("sbatch", "--parsable", "--cpus-per-task=1", *options,
                           f"--output={self.folder / name}.log", "slurm/plan.sbatch", name=name,
                           **variables)

    def text(self):
        return self.log.read_text() if self.log.exists() else ""

    def until(self, word, seconds=60):
        began = time.monotonic()
        while word not in self.text():
            self.assertLess(time.monotonic() - began, seconds, self.text())
            time.sleep(0.02)

    def plan(self):
        return json.loads((self.out / "plan.json").read_text())

    def assert_ends(self, job, code):
        """The job's exit code, as the script gave it."""
        self.assertEqual(self.slurm.wait(job)["ExitCode"], f"{code}:0", self.text())


class Planned(BatchTest):
    def test_by_srun_and_by_mpiexec_alike(self):
        digests = set()
        for name, launch in LAUNCHERS.items():
            with self.subTest(launcher=name):
                job = self.sbatch(name=name, LAUNCH=launch, GPUS=4096)
                self.assert_ends(job, 0)
                self.assertIn("ranks=4", self.text())
                self.assertIn("plan is VALID", self.text())
                digests.add(self.plan()["plan_digest"])
        self.assertEqual(len(digests), 1)

    def test_with_the_delivered_profile(self):
        """Its log has one summary, and no word about binding where Slurm binds nothing."""
        job = self.sbatch(LAUNCH="", PLAN_OPTIONS="", GPUS=256)
        self.assert_ends(job, 0)
        self.assertEqual(self.text().count("upper bound"), 1, self.text())
        self.assertNotIn("cpu binding", self.text())
        self.assertRegex(self.text(), r"(?s)objective +bound.*plan is VALID")  # progress

    def test_by_priority_where_jobs_have_classes(self):
        (self.folder / "c.yaml").write_text(
            "{schema: 1, classes: {a: {gpu_type: A, gpus: 8}}, pods: [{id: p, racks: [{id: r, "
            "machines: [{ids: m, class: a}]}]}]}")
        (self.folder / "j.jsonl").write_text(
            '{"id":"large","tasks":[{"gpus":8}]}\n{"id":"urgent","priority":1,"tasks":[{"gpus":1}]}\n')
        for order, placed in [("", "urgent"), ("value", "large")]:
            with self.subTest(order=order):
                job = self.sbatch(name=f"by{order}", CLUSTER=self.folder / "c.yaml",
                                  WORKLOAD=self.folder / "j.jsonl", ORDER=order)
                self.assert_ends(job, 0)
                self.assertEqual([p["job"] for p in self.plan()["placements"]], [placed])

    def test_with_a_site_profile(self):
        profile = self.folder / "site.env"
        profile.write_text(f'RANKS_PER_NODE=2\nTHREADS=2\nLAUNCH="{SRUN}"\n'
                           f"SBATCH_OPTIONS=--job-name=ours\nBERTH={BERTH}\n")
        job = self.submit("slurm/submit", "-p", profile, "plan", "--parsable",
                          f"--output={self.folder}/job.log", GPUS=1024, LAUNCH="", BERTH="")
        self.assert_ends(job, 0)
        self.assertEqual(self.slurm.job(job)["JobName"], "ours")
        self.assertRegex(self.text(), r"(?s)2 ranks x 2 threads.*ranks=2.*plan is VALID")


class Signalled(BatchTest):
    def assert_cut_short(self):
        self.until("plan is VALID")
        self.assertFalse(self.plan()["reproducible"])

    def test_through_the_batch_shell(self):
        """What --signal=B:USR1@60 does before the limit, and a plain SIGTERM."""
        for number, launcher in [("USR1", "srun"), ("TERM", "srun"), ("TERM", "mpiexec")]:
            with self.subTest(signal=number, launcher=launcher):
                job = self.sbatch(name=number + launcher, LAUNCH=LAUNCHERS[launcher], GPUS=PLENTY)
                self.until("relax")
                self.slurm.run("scancel", "--batch", f"--signal={number}", job)
                self.assert_ends(job, 3)
                self.assert_cut_short()

    def test_that_the_site_accepts(self):
        job = self.sbatch(GPUS=PLENTY, ACCEPT_CUT=1)
        self.until("relax")
        self.slurm.run("scancel", "--batch", "--signal=USR1", job)
        self.assert_ends(job, 0)
        self.assert_cut_short()

    def test_by_a_cancel_or_the_time_limit_itself(self):
        """Slurm then sends SIGTERM to all there is, and SIGKILL some seconds later (KillWait)."""
        job = self.sbatch(GPUS=PLENTY)
        self.until("relax")
        self.slurm.run("scancel", job)
        self.assertEqual(self.slurm.wait(job)["JobState"], "CANCELLED")
        self.assert_cut_short()


class Resumed(BatchTest):
    def checkpointed(self):
        """Stops the ranks once there is a checkpoint, so that they do not finish meanwhile."""
        began = time.monotonic()
        while not (self.out / "checkpoint.berth").exists():
            self.assertLess(time.monotonic() - began, 60, self.text())
            time.sleep(0.005)
        stopped = ranks()
        for rank in stopped:
            os.kill(rank, signal.SIGSTOP)
        return stopped

    def test_to_the_plan_of_an_uninterrupted_run(self):
        self.assert_ends(self.sbatch(name="whole", GPUS=SOME), 0)
        whole = self.plan()
        with self.subTest("queued again after a signal"):
            job = self.sbatch(name="cut", GPUS=SOME, REQUEUE=1)
            stopped = self.checkpointed()
            self.slurm.run("scancel", "--batch", "--signal=USR1", job)
            go_on(stopped)
            self.until("queued again")
            self.assertFalse(self.plan()["reproducible"])
            self.until("going on from")
            self.assert_ends(job, 0)
            self.assertEqual(self.plan()["plan_digest"], whole["plan_digest"])
            self.assertFalse((self.out / "checkpoint.berth").exists())
        with self.subTest("submitted again, on fewer ranks, after a rank was killed"):
            job = self.sbatch(name="killed", GPUS=SOME)
            stopped = self.checkpointed()
            os.kill(stopped[1], signal.SIGKILL)
            go_on(stopped)
            self.assertEqual(self.slurm.wait(job)["JobState"], "FAILED")
            job = self.sbatch("--ntasks-per-node=2", name="killed", GPUS=SOME,
                              RESUME=self.out / "checkpoint.berth")
            self.assert_ends(job, 0)
            self.assertEqual(self.plan()["proof_digest"], whole["proof_digest"])


class Scaled(BatchTest):
    def test_job_array_over_numbers_of_ranks(self):
        counts, log = [1, 3], self.folder / "%a.log"
        array = self.submit("sbatch", "--parsable", "--cpus-per-task=1", "--array=0-1",
                            f"--output={log}", "slurm/scale.sbatch", RANKS_LIST="1 3", GPUS=2048,
                            REPEAT=1)
        digests = set()
        for index, count in enumerate(counts):
            self.log = self.folder / f"{index}.log"
            self.assert_ends(f"{array}_{index}", 0)
            [point] = json.loads((self.out / f"ranks-{count}.json").read_text())["points"]
            self.assertEqual(point["ranks"], count)
            digests.add(point["plan_digest"])
            self.assertIn("measured", (self.out / f"ranks-{count}.csv").read_text())
        self.assertEqual(len(digests), 1)

    def test_refuses_more_ranks_than_the_job_has(self):
        job = self.submit("sbatch", "--parsable", "--cpus-per-task=1", "--array=1",
                          f"--output={self.folder}/job.log", "slurm/scale.sbatch",
                          RANKS_LIST="1 8")
        self.assert_ends(f"{job}_1", 2)
        self.assertIn("8 ranks asked for, the job has room for 4", self.text())


class DeadRank(BatchTest):
    def test_ends_the_job_and_leaves_the_earlier_plan(self):
        for name, launch in LAUNCHERS.items():
            with self.subTest(launcher=name):
                (self.folder / name).mkdir()
                (self.folder / name / "plan.json").write_text("the earlier plan")
                job = self.sbatch(name=name, LAUNCH=launch, GPUS=PLENTY)
                self.until("relax")
                self.assertEqual(len(ranks()), 4)
                os.kill(ranks()[2], signal.SIGKILL)
                ended = self.slurm.wait(job)
                self.assertEqual(ended["JobState"], "FAILED")
                self.assertNotIn(ended["ExitCode"], ["0:0", "3:0", "5:0"])
                self.assertRegex(self.text(), "wrote no plan; an earlier .* is as it was")
                self.assertEqual((self.out / "plan.json").read_text(), "the earlier plan")
                self.assertEqual({file.name for file in self.out.iterdir()},
                                 {"plan.json", "cluster.yaml", "jobs.jsonl", ".began"})


main()

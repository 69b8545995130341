#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits, signals and dead ranks: the plan so far is written or the earlier one stays; no hang."""
import hashlib
import os
import random
import signal
import subprocess
import time

from program import ProgramTest, main

SOON = 20  # seconds in which all ranks end when one is gone


class Interrupted(ProgramTest):
    def setUp(self):
        super().setUp()
        self.generate(gpus=16384)  # four shards, so there are rounds to be skipped

    def assert_signalled(self, done, ranks):
        """Every rank ends with 3. Not so mpiexec: after a signal that of MPICH 4.0.2 may report 0 for any
        program, the likelier the fewer ranks; the plan says what happened all the same."""
        self.assertEqual(self.codes(), [3] * ranks, done)
        self.assertIn(done.code, [0, 3] if ranks > 1 else [3], done)
        self.assert_cut_short(done)

    def assert_cut_short(self, done):
        """A plan that says so and that the judge accepts."""
        self.assertIn("reproducible", done.out)
        plan = self.read_plan()
        self.assertFalse(plan["reproducible"])
        self.assertGreater(plan["jobs_placed"], 0)
        self.assert_valid()
        return plan

    def test_by_a_time_limit(self):
        for ranks, shards in [(None, 0), (3, 4), (3, 1)]:
            with self.subTest(ranks=ranks, shards=shards):
                done = self.plan("--time-limit", "0.000001", "--shards", shards, ranks=ranks)
                self.assert_ends(done, 3)
                self.assertEqual(self.assert_cut_short(done)["stats"]["rounds"], 0)

    def test_not_by_a_distant_time_limit(self):
        self.assert_ends(self.plan("--time-limit", "1e9", ranks=3), 0)
        self.assertTrue(self.read_plan()["reproducible"])

    def test_by_a_signal_to_the_launcher(self):
        for number in [signal.SIGTERM, signal.SIGUSR1]:
            with self.subTest(signal=number):
                plan = self.start_plan(ranks=3, until="relax")
                os.kill(plan.running.pid, number)
                self.assert_signalled(plan.end(), ranks=3)

    def test_by_a_signal_before_anything_is_known(self):
        plan = self.start_plan(ranks=3, until="threads=")
        os.kill(plan.running.pid, signal.SIGTERM)
        self.assert_signalled(plan.end(), ranks=3)

    def test_by_a_signal_without_launcher(self):
        for shards, until in [(0, "relax"), (1, "threads=")]:
            with self.subTest(shards=shards):
                plan = self.start_plan("--shards", shards, ranks=None, until=until)
                [rank] = self.rank_ids()
                os.kill(rank, signal.SIGUSR1)
                os.kill(rank, signal.SIGTERM)
                self.assert_signalled(plan.end(), ranks=1)


    def test_by_ctrl_c(self):
        for ranks in [None, 3]:
            with self.subTest(ranks=ranks):
                plan = self.start_plan(ranks=ranks, until="relax")
                target = self.rank_ids()[0] if ranks is None else plan.running.pid
                os.kill(target, signal.SIGINT)
                self.assert_signalled(plan.end(), ranks=ranks or 1)

    def test_at_once_by_ctrl_c_twice(self):
        self.write("plan.json", "the earlier plan")
        plan = self.start_plan(ranks=None, until="threads=")
        [rank] = self.rank_ids()
        os.kill(rank, signal.SIGSTOP)
        os.kill(rank, signal.SIGINT)
        os.kill(rank, signal.SIGCONT)
        time.sleep(0.05)
        os.kill(rank, signal.SIGINT)
        self.assertNotIn(plan.end().code, [0, 3, 5])
        self.assertEqual((self.folder / "plan.json").read_text(), "the earlier plan")


class DeadRank(ProgramTest):
    def test_ends_the_others_and_leaves_the_earlier_plan(self):
        self.generate(gpus=16384)
        for victim, until in [(0, "threads="), (1, "relax"), (2, "relax")]:
            with self.subTest(victim=victim):
                self.write("plan.json", "the earlier plan")
                plan = self.start_plan(ranks=3, until=until)
                ranks = self.rank_ids()
                self.assertEqual(len(ranks), 3)
                began = time.monotonic()
                os.kill(ranks[victim], signal.SIGKILL)
                done = plan.end()
                self.assertNotIn(done.code, [0, 3, 5], done)
                while self.rank_ids() and time.monotonic() - began < SOON:
                    time.sleep(0.05)  # the launcher does not wait for those it kills
                self.assertEqual(self.rank_ids(), [])
                self.assertLess(time.monotonic() - began, SOON)
                self.assertEqual((self.folder / "plan.json").read_text(), "the earlier plan")


class Resumed(ProgramTest):
    def test_after_a_rank_was_killed_in_mid_run(self):
        self.generate(gpus=16384)
        self.assert_ends(self.plan("--gap", 0, out="whole.json", ranks=3), 0)
        plan = self.start_plan("--gap", 0, "--checkpoint", "c.berth", ranks=3,
                               until='"stage":"coordinate"')
        began = time.monotonic()
        os.kill(self.rank_ids()[2], signal.SIGKILL)
        self.assertNotIn(plan.end().code, [0, 3, 5])
        self.assertLess(time.monotonic() - began, SOON)
        self.assertFalse((self.folder / "plan.json").exists())
        for ranks in [None, 2]:
            with self.subTest(ranks=ranks):
                self.assert_ends(self.plan("--gap", 0, "--resume", "c.berth", ranks=ranks), 0)
                self.assertEqual(self.read_plan()["plan_digest"],
                                 self.read_plan("whole.json")["plan_digest"])
                self.assert_valid()

    def test_not_from_one_that_no_run_wrote(self):
        """Bytes are altered and the digest is made right again: refused or harmless, never a crash."""
        self.generate(gpus=256)
        self.assert_ends(self.plan("--checkpoint", "c.berth"), 0)
        whole = (self.folder / "c.berth").read_bytes()[:-64]
        start = whole.index(b"\n") + 1
        dice = random.Random(1)
        for _ in range(20):
            altered = bytearray(whole)
            for _ in range(3):
                altered[dice.randrange(start + 100, len(whole))] = dice.choice([0x7F, 0xFF, 1])
            digest = hashlib.sha256(altered).hexdigest().encode()
            self.write("c.berth", bytes(altered) + digest)
            done = self.plan("--resume", "c.berth")
            self.assertIn(done.code, [0, 2, 4], done)
            if done.code == 0:
                self.assert_valid()

    def test_not_from_another_build(self):
        self.assert_ends(self.plan("--checkpoint", "c.berth"), 0)
        whole = bytearray((self.folder / "c.berth").read_bytes()[:-64])
        whole[whole.index(b"\n") - 1] ^= 1
        self.write("c.berth", bytes(whole) + hashlib.sha256(whole).hexdigest().encode())
        self.assert_refused(self.plan("--resume", "c.berth"), 2,
                            "c.berth: a checkpoint of another build of berth; start the plan anew")

    def test_not_from_something_else(self):
        self.assert_ends(self.plan("--checkpoint", "c.berth"), 0)
        self.assert_refused(self.plan("--resume", "j.jsonl"), 2, "j.jsonl: not a checkpoint")
        self.assert_refused(self.plan("--resume", "c.berth", "--gap", 0, "--offers", 3), 2,
                            "c.berth: options: made with gap=0.0001 offers=32, now asked for gap=0 offers=3;")
        self.assert_refused(self.plan("--resume", "c.berth", "--gap", 0.5, ranks=3), 2,
                            "c.berth: options: made with gap=0.0001, now asked for gap=0.5;")
        whole = (self.folder / "c.berth").read_bytes()
        self.write("c.berth", whole[:-1])
        self.assert_refused(self.plan("--resume", "c.berth"), 2, "c.berth: cut short or damaged")
        self.assert_refused(self.plan("--checkpoint", "c.yaml"), 2,
                            "--checkpoint: c.yaml is the file given as --cluster")


class LargeInstance(ProgramTest):
    def test_loads_quickly_in_little_memory(self):
        """100,000 machines and jobs. `check` loads and then finds that there is no plan."""
        done = self.berth("generate", "hetero", "--gpus", 800000, "--jobs", 100000,
                          "--out-cluster", "c.yaml", "--out-jobs", "j.jsonl")
        self.assert_ends(done, 0)
        self.write("plan.json", "{}")
        began = time.monotonic()
        running, _ = self.launch("check", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--plan",
                                 "plan.json", stderr=subprocess.DEVNULL)
        running.stdout.close()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(running.returncode, 2)
        seconds = usage.ru_utime + usage.ru_stime
        print(f"loaded in {seconds:.2f} s of CPU, {time.monotonic() - began:.2f} s of wall time, "
              f"{usage.ru_maxrss / 1024:.0f} MiB", flush=True)
        self.assertLess(seconds, 2.0)
        self.assertLess(usage.ru_maxrss / 1024, 300)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An output that fails: exit code 4, one message, the earlier file as it was, nothing left behind."""
import os
import resource
import unittest

from program import ProgramTest, finish, main

# A file system of 16 KiB in a mount namespace of our own, as root or as root of a user namespace.
# $0 is the folder to mount on, "$@" what to run then.
SMALL_DISK = """unshare -rm sh -c 'mount -t tmpfs -o size=16k none "$0"' "$0" 2>/dev/null || {
  echo no mounts here; exit 0; }
exec unshare -rm sh -c 'mount -t tmpfs -o size=16k none "$0" && exec "$@"' "$0" "$@"
"""
# First a small plan, then one that does not fit over it; 90 and above: not as it should be.
TWICE = """run=$1; shift; out=disk/$1; shift
"$@" --jobs j.jsonl --out $out >/dev/null || exit 90
cp $out first
"$@" --jobs more.jsonl --out $out; code=$?
cmp $out first || exit 91
test "$(ls -A disk)" = "${out#disk/}" || exit 92
exit $code
"""


def many_jobs(count):
    return "".join(f'{{"id": "job-{i * i * 7919 % 999983}-{i}", "tasks": [{{"gpus": 1}}]}}\n'
                   for i in range(count))


class FullDisk(ProgramTest):
    def names(self):
        return sorted(p.name for p in self.folder.iterdir())

    def test_small_file_system_keeps_the_earlier_plan(self):
        self.write("more.jsonl", many_jobs(4000))
        (self.folder / "disk").mkdir()
        for out, ranks in [("plan.json", None), ("plan.json", 3), ("plan.json.gz", None)]:
            with self.subTest(out=out, ranks=ranks):
                plan = self.command("plan", "--cluster", "c.yaml", ranks=ranks)
                command = ["sh", "-c", SMALL_DISK, "disk", "sh", "-c", TWICE, "sh", "run", out,
                           *plan]
                done = finish(self.start(command), command)
                if "no mounts here" in done.out:
                    self.skipTest("no mounts here")
                self.assert_refused(done, 4, f"disk/{out}: cannot write: No space left on device")

    def test_limit_of_the_file_size_keeps_the_earlier_plan(self):
        self.write("plan.json", "the earlier plan")
        self.generate(gpus=16384)
        names = sorted([*self.names(), "codes"])
        for ranks in [None, 3]:
            with self.subTest(ranks=ranks):
                # Only once it runs: MPICH keeps its shared memory in a file.
                plan = self.start_plan(ranks=ranks, until="relax")
                for rank in self.rank_ids():
                    resource.prlimit(rank, resource.RLIMIT_FSIZE, (4096, 4096))
                done = plan.end()
                self.assert_ends(done, 4)
                self.assertRegex(done.lines()[-1], "plan.json: cannot write: File too large")
                self.assertEqual((self.folder / "plan.json").read_text(), "the earlier plan")
                self.assertEqual(self.names(), names)

    def test_device(self):
        for ranks in [None, 3]:
            done = self.plan(out="/dev/full", ranks=ranks)
            self.assert_refused(done, 4, "/dev/full: cannot write: No space left on device")
        done = self.berth("generate", "hetero", "--gpus", 64, "--out-cluster", "/dev/null",
                          "--out-jobs", "/dev/full")
        self.assert_refused(done, 4, "/dev/full: cannot write: No space left on device")


class Unwritable(ProgramTest):
    def test_is_found_before_any_work(self):
        (self.folder / "taken").mkdir()
        for out, why in [("no/such/plan.json", "No such file or directory"),
                         ("/proc/plan.json", "(No such file|Permission|Operation not)"),
                         ("taken", "Is a directory"), ("c.yaml/plan.json", "Not a directory")]:
            for ranks in [None, 3]:
                with self.subTest(out=out, ranks=ranks):
                    done = self.plan("--progress", out=out, ranks=ranks)
                    self.assert_refused(done, 4, f"{out}: cannot write: {why}")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_folder_without_permission(self):
        (self.folder / "closed").mkdir(mode=0o500)
        self.assert_refused(self.plan(out="closed/plan.json"), 4, ".*Permission denied")


class FullDiskElsewhere(ProgramTest):
    """What is not the plan must not cost the plan."""

    def test_a_checkpoint_that_does_not_fit_is_a_warning(self):
        self.generate(gpus=16384)
        (self.folder / "disk").mkdir()
        for ranks in [None, 3]:
            with self.subTest(ranks=ranks):
                plan = self.command("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--out",
                                    "plan.json", "--checkpoint", "disk/c.berth", ranks=ranks)
                command = ["sh", "-c", SMALL_DISK, "disk", *plan]
                done = finish(self.start(command), command)
                if "no mounts here" in done.out:
                    self.skipTest("no mounts here")
                self.assert_ends(done, 0)
                self.assertEqual(len(done.lines()), 1, done)
                self.assertRegex(done.lines()[0], "^warning: no checkpoint: disk/c.berth: cannot write: "
                                                  "No space left on device; planning goes on")
                self.assert_valid()

    def test_figures_that_nobody_takes_are_a_warning(self):
        words = self.command("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--out", "plan.json")
        command = ["sh", "-c", '"$@" >/dev/full', "sh", *words]
        done = finish(self.start(command), command)
        self.assert_ends(done, 0)
        self.assertRegex(done.err, "^warning: the plan is written, its figures are not: No space")
        self.assert_valid()


main()

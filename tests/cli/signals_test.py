#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals while MPI starts, launchers that end, and the batch script where mpiexec says 0."""
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

from program import BERTH, MPIEXEC, PATIENCE, ProgramTest, finish, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANSWERS = {  # PMI version 1 of a world of one rank
    "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
    "get_appnum": "cmd=appnum appnum=0",
    "get_my_kvsname": "cmd=my_kvsname kvsname=kvs_0",
    "get_universe_size": "cmd=universe_size size=1",
    "get": "cmd=get_result rc=-1 msg=key_not_found value=unknown",
    "put": "cmd=put_result rc=0 msg=success",
    "barrier_in": "cmd=barrier_out",
    "finalize": "cmd=finalize_ack",
}


class LauncherTest(ProgramTest):
    """The test is the launcher, so it knows when the program is inside MPI_Init."""
    ENVIRONMENT = {}

    def setUp(self):
        super().setUp()
        self.generate(gpus=16384)
        self.mine, theirs = socket.socketpair()
        environment = os.environ | self.ENVIRONMENT | {
            "PMI_FD": str(theirs.fileno()), "PMI_RANK": "0", "PMI_SIZE": "1"}
        self.running_command = self.command("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                            "--out", "plan.json")
        self.running = subprocess.Popen(
            self.running_command, cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        self.addCleanup(self.mine.close)
        self.requests = self.mine.makefile("r")
        self.addCleanup(self.requests.close)
        self.assertIn("cmd=init", self.requests.readline())

    def answer(self, request):
        command = request.split()[0].removeprefix("cmd=")
        self.mine.sendall((ANSWERS[command] + "\n").encode())

    def serve(self):
        self.answer("cmd=init")
        for request in self.requests:
            self.answer(request)

    def end(self):
        return finish(self.running, self.running_command)


class Launcher(LauncherTest):

    def test_signals_during_the_start_are_kept(self):
        os.kill(self.running.pid, signal.SIGUSR1)
        os.kill(self.running.pid, signal.SIGTERM)
        threading.Thread(target=self.serve, daemon=True).start()
        self.assert_ends(self.end(), 3)
        self.assertFalse(self.read_plan()["reproducible"])
        self.assert_valid()

    def test_a_start_that_hangs_ends_after_a_signal(self):
        began = time.monotonic()
        os.kill(self.running.pid, signal.SIGTERM)
        self.assert_refused(self.end(), 4, "MPI did not start within 10 s of a SIGTERM")
        self.assertLess(time.monotonic() - began, 20)


class SlowLauncher(LauncherTest):
    ENVIRONMENT = {"BERTH_START_SECONDS": "2"}

    def test_a_start_that_hangs_ends_by_itself(self):
        began = time.monotonic()
        self.assert_refused(self.end(), 4, r"MPI did not start in time \(BERTH_START_SECONDS\)")
        self.assertLess(time.monotonic() - began, 20)

    def test_the_limit_is_of_the_start_only(self):
        threading.Thread(target=self.serve, daemon=True).start()
        running = self.end()
        self.assert_ends(running, 0)
        self.assert_valid()


class OtherCommands(ProgramTest):
    def test_end_by_a_signal_as_any_program(self):
        os.mkfifo(self.folder / "pipe")
        running, command = self.launch("check", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--plan",
                                       "pipe")
        with open(self.folder / "pipe", "w"):  # it has opened the plan: the command runs
            running.send_signal(signal.SIGTERM)
            self.assertEqual(finish(running, command).code, -signal.SIGTERM)


class Orphans(ProgramTest):
    SOON = 45  # seconds: 10 of waiting for a message, 5 at the end, and the rest of the plan

    def wrapped(self):
        """Four ranks under shells, as sites start them, once they plan."""
        self.generate(gpus=16384)
        words = self.command("plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--out", "plan.json",
                             "--threads", 1, "--log-format", "json", "--verbose", ranks=4)
        at = words.index(BERTH)
        text = " ".join(words[at:]) + "; exit $?"
        running = self.start([*words[:at], "sh", "-c", text])
        for line in running.stderr:
            if '"relax"' in line:
                break
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        return running, self.rank_ids()

    def assert_all_end(self, running):
        began = time.monotonic()
        while self.rank_ids() and time.monotonic() - began < self.SOON:
            time.sleep(0.1)
        left = self.rank_ids()
        for rank in left:
            os.kill(rank, signal.SIGKILL)
        self.assertEqual(left, [])
        try:
            running.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            running.kill()
            raise

    def parents(self, ranks):
        stat = [pathlib.Path(f"/proc/{rank}/stat").read_text() for rank in ranks]
        return [int(text.rpartition(")")[2].split()[1]) for text in stat]

    def test_ranks_whose_wrappers_ended(self):
        running, ranks = self.wrapped()
        for wrapper in self.parents(ranks):
            os.kill(wrapper, signal.SIGKILL)
        self.assert_all_end(running)

    def test_ranks_without_launcher_and_with_one_rank_less(self):
        running, ranks = self.wrapped()
        [proxy] = set(self.parents(self.parents(ranks)))
        os.kill(proxy, signal.SIGSTOP)  # or it would end the ranks itself
        for ended in [running.pid, proxy, *self.parents(ranks), ranks[-1]]:
            os.kill(ended, signal.SIGKILL)
        self.assert_all_end(running)


class BatchScript(ProgramTest):
    """slurm/plan.sbatch outside Slurm, with a launcher that says 0 whatever happens."""

    def batch(self, program, **variables):
        launcher = self.write("launcher", '#!/bin/sh\nshift 2\n"$@"\nexit 0\n')
        launcher.chmod(0o755)
        fake = self.write("berth", program)
        fake.chmod(0o755)
        told = {"BERTH": str(fake), "LAUNCH": str(launcher), "OUT": str(self.folder / "out"),
                "CLUSTER": str(self.folder / "c.yaml"), "WORKLOAD": str(self.folder / "j.jsonl"),
                "SLURM_NTASKS": "1", "BERTH_ROOT": str(ROOT)}
        return subprocess.run(["sh", ROOT / "slurm/plan.sbatch"], env=os.environ | told | variables,
                              capture_output=True, text=True, timeout=PATIENCE)

    def test_a_plan_that_was_cut_short_is_not_complete(self):
        limit = f'#!/bin/sh\n[ "$1" = plan ] && more="--time-limit 1e-9"\nexec {BERTH} "$@" $more\n'
        done = self.batch(limit)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("cut short", done.stdout)

    def test_no_plan_is_not_a_plan(self):
        (self.folder / "out").mkdir()
        self.write("out/plan.json", "an earlier plan")
        done = self.batch("#!/bin/sh\nexit 143\n")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("wrote no plan", done.stderr)
        self.assertEqual((self.folder / "out/plan.json").read_text(), "an earlier plan")

    def test_a_whole_plan_is_complete(self):
        done = self.batch(f'#!/bin/sh\nexec {BERTH} "$@"\n')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertFalse((self.folder / "out/checkpoint.berth").exists())


main()

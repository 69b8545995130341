# SPDX-License-Identifier: Apache-2.0
"""Runs the program in a folder of its own and looks at how it ends."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

BERTH = os.environ["BERTH"]
MPIEXEC = os.environ["MPIEXEC"]
PATIENCE = 60  # seconds; longer is a hang

CLUSTER = """\
schema: 1
classes:
  a: {gpu_type: A100, gpus: 4, cpu_milli: 64000, memory_mib: 262144}
  h: {gpu_type: H100, gpus: 4, cpu_milli: 64000, memory_mib: 262144}
pods:
  - id: p0
    racks:
      - {id: r0, machines: [{ids: "a[0-1]", class: a}]}
      - {id: r1, machines: [{ids: h0, class: h}]}
"""

JOBS = """\
{"id": "gang", "tasks": [{"shape": "worker", "count": 2, "gpus": 2, "cpu_milli": 1000, "memory_mib": 64}]}
{"id": "share-1", "tasks": [{"shape": "worker", "count": 1, "gpu_milli": 600}]}
{"id": "share-2", "tasks": [{"shape": "worker", "count": 1, "gpu_milli": 600}]}
{"id": "typed", "gpu_types": ["A100"], "tasks": [{"shape": "worker", "count": 1, "gpus": 1}]}
{"id": "cpu", "required": true, "tasks": [{"shape": "worker", "count": 1, "cpu_milli": 500}]}
"""


class Done:
    """How a run ended."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    def lines(self):
        return [line for line in self.err.splitlines() if line.strip()]

    def __str__(self):
        return f"\n{' '.join(map(str, self.command))}\nexit {self.code}\n{self.out}\n{self.err}"


def finish(running, command):
    """Waits for the end; kills a run that hangs, ranks and all (they are our own session)."""
    try:
        out, err = running.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        out, err = running.communicate()
        raise AssertionError(f"hangs: {' '.join(command)}\n{out}\n{err}") from None
    return Done(command, running.returncode, out, err)


class Watched:
    """A run whose log is read while it goes on."""

    def __init__(self, running, command):
        self.running, self.command, self.log = running, command, []
        self.reader = None

    def until(self, word):
        """Waits for a line of the log with `word`; a thread reads the rest."""
        for line in self.running.stderr:
            self.log.append(line)
            if word in line:
                self.reader = threading.Thread(target=self.read_on, daemon=True)
                self.reader.start()
                return self
        raise AssertionError(f"no {word!r} in the log:\n{''.join(self.log)}")

    def read_on(self):
        self.log.extend(self.running.stderr)

    def end(self):
        hangs = threading.Timer(PATIENCE, os.killpg, [self.running.pid, signal.SIGKILL])
        hangs.start()
        out = self.running.stdout.read()
        code = self.running.wait()
        self.reader.join()
        hangs.cancel()
        self.running.stdout.close()
        self.running.stderr.close()
        return Done(self.command, code, out, "".join(self.log))


class ProgramTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="berth-cli-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.write("c.yaml", CLUSTER)
        self.write("j.jsonl", JOBS)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, (bytes, bytearray)) else content.encode())
        return path

    def command(self, *arguments, ranks=None):
        """Without a launcher, or under mpiexec when ranks are given."""
        launcher = [] if ranks is None else [MPIEXEC, "-n", str(ranks)]
        return [*launcher, BERTH, *map(str, arguments)]

    def keep_codes(self, command):
        """The same command with the exit code of each rank noted in the file `codes`."""
        at = command.index(BERTH)
        note = 'trap : USR1 TERM INT; "$@"; code=$?; echo $code >>codes; exit $code'
        return [*command[:at], "sh", "-c", note, "sh", *command[at:]]

    def launch(self, *arguments, ranks=None, stderr=subprocess.PIPE, env=None,
               stdin=os.devnull):
        command = self.command(*arguments, ranks=ranks)
        return self.start(command, stderr, env, stdin), command

    def start(self, command, stderr=subprocess.PIPE, env=None, stdin=os.devnull):
        """@param env  variables beside those of this process
        @param stdin  name of a file"""
        with open(self.folder / stdin) as given:
            return subprocess.Popen(command, cwd=self.folder, text=True, errors="replace",
                                    stdin=given, stdout=subprocess.PIPE, stderr=stderr,
                                    start_new_session=True, env=os.environ | (env or {}))

    def berth(self, *arguments, **how):
        return finish(*self.launch(*arguments, **how))

    def plan(self, *more, cluster="c.yaml", jobs="j.jsonl", out="plan.json", **how):
        return self.berth("plan", "--cluster", cluster, "--jobs", jobs, "--out", out, *more, **how)

    def check(self, cluster="c.yaml", jobs="j.jsonl", plan="plan.json", **how):
        return self.berth("check", "--cluster", cluster, "--jobs", jobs, "--plan", plan, **how)

    def read_plan(self, name="plan.json"):
        return json.loads((self.folder / name).read_text())

    def assert_ends(self, done, code):
        self.assertEqual(done.code, code, done)

    def assert_refused(self, done, code, pattern):
        """This exit code, and one line that says why."""
        self.assert_ends(done, code)
        self.assertEqual(len(done.lines()), 1, done)
        self.assertRegex(done.lines()[0], "^berth: error: " + pattern)

    def assert_valid(self, **files):
        done = self.check(**files)
        self.assert_ends(done, 0)
        self.assertIn("plan is VALID", done.out)

    def planned_in_time(self, jobs, *flags):
        """The valid plan with a horizon of these jobs on c.yaml."""
        self.write("j.jsonl", "".join(json.dumps(one) + "\n" for one in jobs))
        self.assert_ends(self.plan("--horizon", *flags), 0)
        self.assert_valid()
        return self.read_plan()

    def generate(self, gpus):
        """An instance large enough to be interrupted, in place of the small one."""
        done = self.berth("generate", "hetero", "--gpus", gpus, "--out-cluster", "c.yaml",
                          "--out-jobs", "j.jsonl")
        self.assert_ends(done, 0)

    def rank_ids(self):
        """System ids of the program's ranks that run in our folder, in order of start."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                program = pathlib.Path(os.readlink(folder / "exe"))
                if program.samefile(BERTH) and os.readlink(folder / "cwd") == str(self.folder):
                    found.append(int(folder.name))
            except OSError:
                pass  # gone, or not ours
        return sorted(found)

    def start_plan(self, *more, ranks, until):
        """A plan with a JSON log, once that holds the word `until`; with a file `codes`."""
        (self.folder / "codes").unlink(missing_ok=True)
        command = self.keep_codes(self.command(
            "plan", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--out", "plan.json",
            "--log-format", "json", "--verbose", *more, ranks=ranks))
        return Watched(self.start(command), command).until(until)

    def codes(self):
        return sorted(map(int, (self.folder / "codes").read_text().split()))


def main():
    unittest.main(verbosity=2)

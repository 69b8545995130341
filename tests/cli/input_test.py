#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input ends all ranks with one message (file, line, field, problem, hint) and exit code 2."""
import gzip
import os
import resource
import subprocess
import threading
import time

from program import CLUSTER, JOBS, ProgramTest, finish, main


def job(more):
    return '{"id": "x", ' + more + "}\n"


def one_task(more):
    return job('"tasks": [{"shape": "worker", ' + more + "}]")


BAD_JOBS = [
    (one_task('"count": -1, "gpus": 1'), r":1: tasks\[0\].count: must not be negative, found -1"),
    (one_task('"count": 1, "gpus": -2'), r":1: tasks\[0\].gpus: must not be negative, found -2"),
    (one_task('"count": 1e18, "gpus": 1'), r":1: tasks\[0\].count: expected a whole number"),
    (one_task('"count": 99999999, "gpus": 1'), r":1: tasks\[0\].count: must be at most 1000000"),
    (one_task('"count": 1, "gpus": 99999999999999999999'), ":1: not valid JSON"),
    (one_task('"count": 1.5, "gpus": 1'), r":1: tasks\[0\].count: expected a whole number"),
    (one_task('"count": "two", "gpus": 1'), r":1: tasks\[0\].count: expected"),
    (one_task('"gpu_milli": 1001'), r":1: tasks\[0\].gpu_milli: .*; ask for whole GPUs"),
    (job('"weight": -3, "tasks": [{"gpus": 1}]'), ":1: weight: must not be negative, found -3"),
    (job('"weight": 1e308, "tasks": [{"gpus": 1}]'), ":1: weight: must be at most"),
    (job('"tasks": []'), ":1: tasks: a job needs at least one task"),
    (job('"taks": [{"gpus": 1}]'), r':1: taks: unknown key; did you mean "tasks"\?'),
    (job('"home": {"rack": "r7"}, "tasks": [{"gpus": 1}]'), ":1: home.rack: unknown rack"),
    (JOBS + job('"tasks": [{"gpus": 1'), ":6: not valid JSON"),
    (JOBS + JOBS, r':6: id: job "gang" is given twice; first on line 1'),
    (JOBS + "null\n", ":6: expected an object"),
    (job('"\\u001b[31m\\nplan is VALID": 1, "tasks": [{}]'),
     r":1: \\x1b\[31m\\x0aplan is VALID: unknown key"),
    (job('"tasks": [' + ", ".join(f'{{"shape": "s{i}"}}' for i in range(1025)) + "]"),
     ":1: tasks: more than 1024 task groups"),
    ('{"tasks": [{"gpus": 1}]}\n', ":1: id: is missing"),
]

BAD_CLUSTERS = [
    ("", "is empty; a cluster begins with schema: 1"),
    ("schema: 1\nclasses: {a: {gpus: 4\npods: []\n", "3: not valid YAML"),
    (CLUSTER.replace("schema: 1", "schema: 7"), '1: schema: unknown schema "7"; this is schema 1'),
    (CLUSTER.replace("gpus: 4", "gpus: -4", 1), "3: classes.a.gpus: must not be negative, found -4"),
    (CLUSTER.replace("gpus: 4", "gpus: 800", 1), "3: classes.a.gpus: .* at most 64"),
    (CLUSTER.replace("gpus: 4", "gpus: four", 1), "3: classes.a.gpus: expected a whole number"),
    (CLUSTER.replace("gpu_type: H100", "gpu_typ: H100"), r'4: .*; did you mean "gpu_type"\?'),
    (CLUSTER.replace("class: h", "class: hh"), r'9: .*unknown class "hh"; did you mean "h"\?'),
    (CLUSTER.replace("ids: h0", 'ids: "a[1-3]"'), '9: .*machine "a1" is given twice'),
    (CLUSTER.replace("a[0-1]", "a[0-99999999999]"), "8: .*more than 16777216 machines"),
    (CLUSTER.replace("id: r1", "id: r0"), '9: .*"r0" is given twice'),
    (CLUSTER + "---\nqueues: []\n", "11: a second YAML document; a cluster is one document"),
    (CLUSTER + "...\nqueues: []\n", "11: a second YAML document"),
    ("  schema: 1\nqueues: []\n", "2: a second YAML document"),
    (JOBS, "2: JSON Lines, as of a jobs file"),
    (CLUSTER.replace("ids: h0", "name: h0"), r'9: .*name: unknown key; did you mean "ids"\?'),
    (", " + CLUSTER, "1: not valid YAML: nothing can begin like this"),
    (CLUSTER + '"a\\e[31m\\nb": 1\n', r"10: a\\x1b\[31m\\x0ab: unknown key"),
]


class BadJobs(ProgramTest):
    def test_are_refused_by_file_line_and_field(self):
        for text, pattern in BAD_JOBS:
            with self.subTest(pattern=pattern):
                self.write("x.jsonl", text)
                self.assert_refused(self.plan(jobs="x.jsonl"), 2, "x.jsonl" + pattern)
        self.assertFalse((self.folder / "plan.json").exists())

    def test_truncated_gzip(self):
        packed = gzip.compress(JOBS.encode())
        for size in [len(packed) // 2, len(packed) - 5, 6, 0]:
            with self.subTest(size=size):
                self.write("x.jsonl.gz", packed[:size])
                done = self.plan(jobs="x.jsonl.gz")
                self.assert_refused(done, 2, "x.jsonl.gz: .*gzip")

    def test_damaged_gzip_and_gzip_by_another_name(self):
        packed = bytearray(gzip.compress(JOBS.encode()))
        self.write("x.jsonl", packed)
        self.assert_refused(self.plan(jobs="x.jsonl"), 2, "x.jsonl: is gzip, .*; let the name end")
        packed[len(packed) // 2] ^= 0xFF
        self.write("x.jsonl.gz", packed)
        self.assert_refused(self.plan(jobs="x.jsonl.gz"), 2, "x.jsonl.gz: ")


class BadCluster(ProgramTest):
    def test_is_refused_by_file_line_and_field(self):
        for text, pattern in BAD_CLUSTERS:
            with self.subTest(pattern=pattern):
                self.write("x.yaml", text)
                self.assert_refused(self.plan(cluster="x.yaml"), 2, "x.yaml: ?" + pattern)


class ClassOrder(ProgramTest):
    """The instance digest names what was planned: equal ones give equal plans."""

    def reorder(self):
        """The cluster with its classes the other way round and one more that nothing uses."""
        lines = (self.folder / "c.yaml").read_text().splitlines(keepends=True)
        first, end = lines.index("classes:\n") + 1, lines.index("pods:\n")
        self.write("other.yaml", "".join(
            lines[:first] + ["  unused: {gpu_type: Z9, gpus: 8}\n"] + lines[first:end][::-1] +
            lines[end:]))

    def digests(self, name):
        plan = self.read_plan(name)
        return [plan[key] for key in ["instance_digest", "plan_digest", "proof_digest"]]

    def test_of_the_file_makes_no_difference(self):
        self.generate(512)
        self.reorder()
        self.assert_ends(self.plan("--checkpoint", "c.berth", out="one.json"), 0)
        self.assert_ends(self.plan(cluster="other.yaml", out="other.json"), 0)
        self.assertEqual(self.digests("one.json"), self.digests("other.json"))
        self.assert_ends(self.plan("--resume", "c.berth", cluster="other.yaml"), 0)
        self.assertEqual(self.digests("plan.json"), self.digests("one.json"))


class Files(ProgramTest):
    def test_missing_ones_and_folders(self):
        for ranks in [None, 3]:
            with self.subTest(ranks=ranks):
                done = self.plan(cluster="no.yaml", ranks=ranks)
                self.assert_refused(done, 2, "no.yaml: cannot read: No such file")
                done = self.plan(jobs=".", ranks=ranks)
                self.assert_refused(done, 2, r"\.: cannot read: Is a directory")
                done = self.check(plan="no.json", ranks=ranks)
                self.assert_refused(done, 2, "no.json: cannot read: No such file")
        done = self.berth("import", "openb", "--nodes", "n.csv", "--pods", "p.csv",
                          "--out-cluster", "o.yaml", "--out-jobs", "o.jsonl", ranks=3)
        self.assert_refused(done, 2, "n.csv: cannot read: No such file")

    def test_errors_reach_all_ranks(self):
        for text, pattern in [BAD_JOBS[0], BAD_JOBS[13], BAD_JOBS[14]]:
            self.write("x.jsonl", text)
            self.assert_refused(self.plan(jobs="x.jsonl", ranks=3), 2, "x.jsonl" + pattern)
        self.write("x.yaml", BAD_CLUSTERS[1][0])
        self.assert_refused(self.plan(cluster="x.yaml", ranks=3), 2, "x.yaml:3: not valid YAML")

    def test_a_plan_that_is_no_plan(self):
        for text, pattern in [("{", "x.json: not valid JSON"), ("[]", "x.json: expected an object"),
                              ('{"schema": 1}', "x.json: placements: is missing")]:
            self.write("x.json", text)
            self.assert_refused(self.check(plan="x.json"), 2, pattern)


class HostileFiles(ProgramTest):
    """Files that are not what a cluster or a queue has: refused in bounded memory and time."""

    def refused(self, pattern, **files):
        running, command = self.launch("plan", "--cluster", files.get("cluster", "c.yaml"), "--jobs",
                                       files.get("jobs", "j.jsonl"), "--out", "plan.json")
        limit = 1 << 31  # bytes
        resource.prlimit(running.pid, resource.RLIMIT_AS, (limit, limit))
        self.assert_refused(finish(running, command), 2, pattern)

    def bomb(self, name, unit):
        with gzip.open(self.folder / name, "wb", compresslevel=1) as file:
            for _ in range(300):
                file.write(unit * (1 << 20))
        return name

    def test_gzip_that_inflates_without_end(self):
        self.refused("c.yaml.gz: holds more than 256 MiB of text", cluster=self.bomb("c.yaml.gz", b"\n"))
        self.refused("j.jsonl.gz: a line of more than 256 MiB", jobs=self.bomb("j.jsonl.gz", b" "))

    def test_devices(self):
        for device in ["/dev/zero", "/dev/urandom", "/dev/full"]:
            self.refused(f"{device}: is a device; give a file or a pipe", cluster=device)
            self.refused(f"{device}: is a device; give a file or a pipe", jobs=device)

    def test_a_pipe_without_a_writer(self):
        os.mkfifo(self.folder / "pipe")
        began = time.monotonic()
        self.refused("pipe: is a pipe that nobody writes to; it had no writer for 10 s", jobs="pipe")
        self.assertLess(time.monotonic() - began, 30)

    def test_a_pipe_whose_writer_is_late(self):
        os.mkfifo(self.folder / "pipe")
        text = (self.folder / "j.jsonl").read_text()

        def write():
            time.sleep(1)
            with open(self.folder / "pipe", "w") as pipe:
                time.sleep(1)
                pipe.write(text)
        writer = threading.Thread(target=write)
        writer.start()
        self.assert_ends(self.plan(jobs="pipe"), 0)
        writer.join()

    def test_standard_input_and_process_substitution(self):
        for command in ['cat j.jsonl | "$@" --jobs /dev/stdin', '"$@" --jobs <(cat j.jsonl)',
                        '"$@" --jobs /dev/stdin < j.jsonl']:
            words = self.command("plan", "--cluster", "c.yaml", "--out", "plan.json")
            done = subprocess.run(["bash", "-c", command, "bash", *words], cwd=self.folder,
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_empty_jobs_file_from_null(self):
        self.assert_ends(self.plan(jobs="/dev/null"), 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The index of what `berth explain` and `berth show` read: equal answers with and without it, never
those of other files, and nothing that somebody else or a fault of the disk has written."""
import hashlib
import os
import shutil
import subprocess
import time

from program import JOBS, ProgramTest, main

WAITS = '{"id": "large", "tasks": [{"shape": "worker", "count": 9, "gpus": 4}]}\n'


class Cache(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("j.jsonl", JOBS + WAITS)
        self.assert_ends(self.plan(), 0)
        self.kept = self.folder / "kept"

    def tell(self, *words, command="explain", folder="kept", **how):
        more = [] if folder is None else ["--cache", folder]
        done = self.berth(command, "plan.json", "c.yaml", "j.jsonl", *words, *more, **how)
        self.assert_ends(done, 0)
        return done

    def images(self):
        return sorted(self.kept.glob("*.plan"))

    def image(self):
        [path] = self.images()
        return path

    def test_answers_are_equal_with_and_without(self):
        for command, words in [("explain", ["--all"]), ("explain", ["--job", "typed"]),
                               ("show", ["--by", "machine,job,reason"])]:
            plain = self.tell(*words, command=command, folder=None)
            without = self.tell(*words, "--no-cache", command=command, folder=None)
            for _ in range(2):
                kept = self.tell(*words, command=command)
                self.assertEqual((kept.out, kept.err), (plain.out, plain.err))
            self.assertEqual(without.out, plain.out)
        self.assertEqual(len(self.images()), 1)
        self.assertEqual(self.image().stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.kept.stat().st_mode & 0o777, 0o700)

    def resigned(self, old, new):
        """The image with other words, and the digest that its owner could give it."""
        content = self.image().read_bytes()[:-64].replace(old, new)
        self.image().write_bytes(content + hashlib.sha256(content).hexdigest().encode())

    def test_the_second_answer_is_from_the_index(self):
        self.tell()
        self.resigned(b"gang too large", b"gang too LARGE")
        self.assertIn("gang too LARGE", self.tell().out)
        self.assertIn("gang too large", self.tell("--no-cache", folder=None).out)

    def test_what_has_changed_is_read_anew(self):
        first = self.tell().out
        times = os.stat(self.folder / "j.jsonl")
        self.write("j.jsonl", JOBS + WAITS.replace("9", "8"))
        self.assert_ends(self.plan(), 0)
        for name in ["j.jsonl", "plan.json"]:  # equal size, and equal time
            os.utime(self.folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))
        second = self.tell().out
        self.assertIn("needs 9 x", first)
        self.assertIn("needs 8 x", second)
        self.assertEqual(len(self.images()), 2)
        self.write("j.jsonl", JOBS + WAITS)  # which the plan is not of
        done = self.berth("explain", "plan.json", "c.yaml", "j.jsonl", "--cache", "kept")
        self.assert_refused(done, 2, ".*other files")
        self.assertEqual(len(self.images()), 2)

    def notes(self):
        return sorted(self.kept.glob("*.state"))

    def test_files_that_nobody_has_written_since_are_not_digested_again(self):
        self.tell()
        first = self.image()
        first_bytes = (self.folder / "j.jsonl").read_bytes(), (self.folder / "plan.json").read_bytes()
        self.write("j.jsonl", JOBS + WAITS.replace("9", "8"))
        self.assert_ends(self.plan(), 0)
        started = time.monotonic()
        self.tell()
        if time.monotonic() < started + 1:  # they may change again in the same tick of a clock
            self.assertEqual(self.notes(), [])
        time.sleep(2.1)
        self.tell()
        [note] = self.notes()
        self.assertEqual(note.stat().st_mode & 0o777, 0o600)
        self.assertEqual(note.read_text() + ".plan", [p for p in self.images() if p != first][0].name)
        note.write_text(first.stem)  # which only its owner can do, and shows that it is read
        self.assertIn("needs 9 x", self.tell().out)
        times = os.stat(self.folder / "j.jsonl")
        for name, old in zip(["j.jsonl", "plan.json"], first_bytes):
            (self.folder / name).write_bytes(old)
            os.utime(self.folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))
        note.write_text([p for p in self.images() if p != first][0].stem)
        self.assertIn("needs 9 x", self.tell().out)  # equal size, equal time: another state

    def test_notes_that_lead_nowhere_are_replaced(self):
        self.tell()
        time.sleep(2.1)
        right = self.tell().out
        [note] = self.notes()
        key = note.read_text()
        for bad in [b"", b"0" * 64, b"../" * 20 + b"pass", key.encode() + b"x"]:
            note.write_bytes(bad)
            done = self.tell()
            self.assertEqual((done.out, done.err), (right, ""))
            self.assertEqual(note.read_text(), key)
        self.image().unlink()
        self.assertEqual(self.tell().out, right)
        self.assertEqual(self.image().stem, key)

    def refused(self, why):
        done = self.tell()
        self.assertRegex(done.err, f"^berth: warning: .*: not used: {why}")
        self.assertIn("gang too large", done.out)
        self.assertEqual(self.tell().err, "")  # it was written anew

    def test_damaged_images_are_told_and_replaced(self):
        self.tell()
        whole = self.image().read_bytes()
        for bad in [b"", whole[:-1], whole[:200], whole + b"x", whole.replace(b"large", b"LARGE", 1),
                    b"x" * len(whole)]:
            self.image().write_bytes(bad)
            self.refused("it is damaged")
        for at in range(0, len(whole), max(1, len(whole) // 8)):
            self.image().write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.refused("it is damaged")

    def test_an_image_of_other_files_is_not_taken_for_this_one(self):
        self.tell()
        first = self.image()
        self.write("j.jsonl", JOBS + WAITS.replace("9", "8"))
        self.assert_ends(self.plan(), 0)
        self.tell()
        [second] = [path for path in self.images() if path != first]
        shutil.copyfile(first, second)
        done = self.tell()
        self.assertIn("not used: it is damaged", done.err)
        self.assertIn("needs 8 x", done.out)

    def test_images_that_others_could_write_are_not_used(self):
        self.tell()
        self.image().chmod(0o666)
        self.refused("others may write it")
        aside = self.folder / "aside"
        self.image().rename(aside)
        path = self.kept / (aside.read_bytes().split()[3].decode() + ".plan")
        path.symlink_to(aside)
        done = self.tell()
        self.assertIn("not used: it is a link", done.err)
        self.assertIn("gang too large", done.out)
        if os.geteuid() == 0:
            path.unlink(missing_ok=True)
            self.tell()
            os.chown(path, 1, 1)
            self.refused("it is somebody else's")

    def test_few_images_are_kept(self):
        for count in range(3, 11):
            self.write("j.jsonl", JOBS + WAITS.replace("9", str(count)))
            self.assert_ends(self.plan(), 0)
            self.tell()
        self.assertEqual(len(self.images()), 4)

    def test_a_folder_that_cannot_be_written_changes_nothing(self):
        plain = self.tell(folder=None).out
        self.write("file", "")
        for folder in ["file", "file/below", "/proc/nothing"]:
            done = self.tell(folder=folder)
            self.assertEqual((done.out, done.err), (plain, ""))

    def test_pipes_are_read_without_it(self):
        plain = self.tell(folder=None).out
        line = f"cat j.jsonl | {os.environ['BERTH']} explain plan.json c.yaml - --cache kept"
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, text=True, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, plain), done.stderr)
        self.assertFalse(self.kept.exists())

    def test_small_files_leave_no_trace_in_the_folder_of_the_user(self):
        home = self.folder / "home"
        self.tell(folder=None, env={"XDG_CACHE_HOME": str(home)})
        self.assertFalse(home.exists())

    def test_several_at_once_write_one_image(self):
        command = self.command("explain", "plan.json", "c.yaml", "j.jsonl", "--cache", "kept")
        runs = [self.start(command) for _ in range(6)]
        told = {run.communicate(timeout=60) for run in runs}
        self.assertEqual(len(told), 1, told)
        self.assertEqual(len(self.images()), 1)


class LargeFiles(ProgramTest):
    def test_are_kept_in_the_folder_of_the_user(self):
        self.write("j.jsonl", JOBS)
        self.assert_ends(self.plan(), 0)
        self.write("plan.json", (self.folder / "plan.json").read_text() + " " * (17 << 20))
        told = [self.berth("show", "plan.json", "c.yaml", "j.jsonl",
                           env={"XDG_CACHE_HOME": str(self.folder / "home")}) for _ in range(2)]
        self.assertEqual([done.code for done in told], [0, 0], told[0])
        self.assertEqual(told[0].out, told[1].out)
        self.assertEqual(len(list((self.folder / "home" / "berth").glob("*.plan"))), 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help teaches; a wrong command line ends all ranks with one message and exit code 2."""
import json
import re

from program import BERTH, MPIEXEC, ProgramTest, finish, main

FILES = ["--cluster", "c.yaml", "--jobs", "j.jsonl"]
PLAN = ["plan", *FILES, "--out", "plan.json"]


class Help(ProgramTest):
    def test_every_command_shows_examples_defaults_and_exit_codes(self):
        subjects = {
            ("plan",): ["mpiexec -n 4 berth plan", "--gap FRACTION=0.0001", "--seed UINT=0", "--time-limit DURATION",
                        "--objective TEXT:{value,allocate,flow,makespan}=value", "no limit by default",
                        "SIGTERM", "required job is missing"],
            ("check",): ["berth check c.yaml j.jsonl.gz --plan", "1 it is not",
                         "--cluster FILE REQUIRED"],
            ("simulate",): ["--mtbf DURATION", "--profiles FILE"],
            ("import",): ["berth import openb --nodes", "rack-placement"],
            ("import", "openb"): ["berth import openb --nodes", "--pods FILE REQUIRED"],
            ("import", "slurm"): ["--out-state", "--topology", "--spread POD,CLUSTER=0.95,0.9"],
            ("apply", "slurm"): ["--import-state FILE", "--commit", "ReqNodeList",
                                 "which nodes a job must have (ReqNodeList)"],
            ("import", "rack-placement"): ["berth import rack-placement", "--racks FILE REQUIRED"],
            ("generate",): ["berth generate hetero --gpus"],
            ("generate", "hetero"): ["berth generate hetero", "--gpus INT=16384", "--seed UINT=1"],
            (): ["berth plan --help", "berth check", "docs/formats.md"],
        }
        for command, words in subjects.items():
            with self.subTest(command=command):
                done = self.berth(*command, "--help")
                self.assert_ends(done, 0)
                self.assertEqual(done.err, "")
                text = " ".join(done.out.split())  # lines are wrapped
                for word in [*words, "Example", "Exit codes"]:
                    self.assertIn(word, text)

    def test_every_page_is_within_80_columns(self):
        completion = self.berth("help", "bash").out
        commands = re.findall(r"^    'berth ?([^']*)'\) words=", completion, re.MULTILINE)
        self.assertGreater(len(commands), 30)
        for command in commands:
            page = self.berth(*command.split(), "--help").out
            self.assertIn(f"Usage: berth {command}".rstrip(), page)
            self.assertEqual([line for line in page.splitlines() if len(line) > 80], [], command)

    def test_examples_are_those_of_the_command(self):
        page = self.berth("import", "openb", "--help").out
        self.assertIn("berth import openb --nodes", page)
        self.assertNotIn("philly", page)

    def test_is_printed_once_for_all_ranks(self):
        done = self.berth("plan", "--help", ranks=3)
        self.assert_ends(done, 0)
        self.assertEqual(done.out.count("Usage:"), 1, done)

    def test_version(self):
        done = self.berth("--version")
        self.assert_ends(done, 0)
        self.assertRegex(done.out, r"^berth \d+\.\d+\.\d+( \([0-9a-f]{7,40}\))?\n$")
        self.assertEqual(self.berth("-V").out, done.out)
        self.assertEqual(self.berth("version").out, done.out)

    def test_help_is_a_command_too(self):
        for command in [[], ["plan"], ["generate", "hetero"]]:
            told = self.berth("help", *command)
            self.assert_ends(told, 0)
            self.assertEqual(told.out, self.berth(*command, "--help").out)


    def test_manual_page_and_completion_name_every_command_and_option(self):
        manual, completion = self.berth("help", "man"), self.berth("help", "bash", ranks=2)
        for done in (manual, completion):
            self.assert_ends(done, 0)
            for word in ["plan", "report", "import", "philly", "time-limit".replace("-", "[-\\\\]+")]:
                self.assertRegex(done.out, word)
        self.assertTrue(manual.out.startswith(".TH BERTH 1\n"))
        self.assertEqual(completion.out.count("complete -o default"), 1)
        script = self.write("berth.bash", completion.out + """
COMP_WORDS=(berth plan --time-l) COMP_CWORD=2; _berth; echo "${COMPREPLY[@]}"
COMP_WORDS=(berth generate he) COMP_CWORD=2; _berth; echo "${COMPREPLY[@]}"
""")
        done = finish(self.start(["bash", str(script)]), ["bash"])
        self.assertEqual(done.out.split(), ["--time-limit", "hetero"], done)


class OptionsFile(ProgramTest):
    def test_gives_options_that_the_command_line_does_not(self):
        self.write("o.txt", "# nightly\ngap = 5%   # enough\n\nseed=7\nquiet\n")
        self.assert_ends(self.plan("--options-file", "o.txt", "--seed", "3"), 0)
        options = self.read_plan()["options"]
        self.assertEqual((float(options["gap"]), options["seed"]), (0.05, "3"))

    def test_faults_are_told(self):
        self.write("o.txt", "gap = 5%\n--seed 7\n")
        self.assert_refused(self.plan("--options-file", "o.txt"), 2, "o.txt:2: not an option of the")
        self.write("o.txt", "gpa = 5%\n")
        self.assert_refused(self.plan("--options-file=o.txt"), 2, "--gpa: unknown option; did you mean \"--gap\"")
        self.assert_refused(self.plan("--options-file", "none.txt", ranks=2), 2, "none.txt: cannot")


class Manners(ProgramTest):
    """Files by position, units in values, standard input and output."""

    def test_files_by_position_and_units_give_the_same_plan(self):
        self.assert_ends(self.plan("--gap", "0.05", "--time-limit", "3600"), 0)
        done = self.berth("plan", "c.yaml", "j.jsonl", "--gap", "5%", "--time-limit", "1h",
                          "--out", "other.json")
        self.assert_ends(done, 0)
        first, second = self.read_plan(), self.read_plan("other.json")
        self.assertEqual(first["plan_digest"], second["plan_digest"])
        self.assertEqual(first["options"], second["options"])

    def test_jobs_from_standard_input_plan_to_standard_output(self):
        self.assert_ends(self.plan(), 0)
        for ranks in [None, 2]:
            command = " ".join(self.command("plan", "c.yaml", "-", "--out", "-", ranks=ranks))
            done = finish(self.start(["sh", "-c", f"cat j.jsonl | {command}"]), [command])
            self.assert_ends(done, 0)
            self.assertEqual(json.loads(done.out)["plan_digest"], self.read_plan()["plan_digest"])
            self.assertIn("upper bound", done.err)


class WrongCommandLine(ProgramTest):
    def test_is_refused_with_a_hint(self):
        for words, pattern in [
            ([], r"A subcommand is required \(berth --help"),
            (["plna"], r'plna: unknown command; did you mean "plan"\?'),
            (["generate", "hetro"], r'hetro: unknown command; did you mean "hetero"\?'),
            (["plan"], r".* is required \(berth plan --help"),
            ([*PLAN, "--trheads", "2"], r'--trheads: unknown option; did you mean "--threads"\?'),
            ([*PLAN, "--trheads=2"], r'--trheads: unknown option; did you mean "--threads"\?'),
            ([*PLAN, "--xyzzy"], r"--xyzzy: unknown option \(berth plan --help"),
            ([*PLAN, "--shards", "-1"], "--shards: -1"),
            ([*PLAN, "--shards", "many"], "--shards: many is not a whole number"),
            ([*PLAN, "--gap", "7"], r"--gap: 7 is not in \[0, 1\); unit: fraction, 0.001 is 0.1 %"),
            ([*PLAN, "--gap", "nan"], r"--gap: nan is not in \[0, 1\)"),
            ([*PLAN, "--trace-out", "plan.json"],
             "--trace-out: plan.json is the file given as --out; name another file"),
            ([*PLAN, "--checkpoint", "./plan.json"], "--checkpoint: ./plan.json is the file given as"),
            ([*PLAN, "--checkpoint", "x", "--trace-out", "x"], "--trace-out: x is the file given as --ch"),
            ([*PLAN, "--checkpoint", ""], "--checkpoint: is empty"),
            ([*PLAN, "--resume", ""], "--resume: is empty"),
            ([*PLAN, "--resume", "x" * 5000], "x+: cannot read: File name too long"),
            ([*PLAN, "--trace-out", ""], "--trace-out: the name of the file is empty"),
            (["plan", "--cluster", "", "--jobs", "j.jsonl", "--out", "p"], "--cluster: the name of"),
            (["plan", *FILES, "--out", ""], "--out: the name of the file is empty"),
            (["generate", "hetero", "--gpus", "64", "--out-cluster", "x", "--out-jobs", "x"],
             "--out-jobs: x is the file given as --out-cluster"),
            ([*PLAN, "--time-limit", "0"], "--time-limit: 0 is no time; give a positive one"),
            ([*PLAN, "--time-limit", "-3"], "--time-limit: -3 is no time"),
            ([*PLAN, "--offers", "0"], r"--offers: 0 is not in \[1, 1000000\]; unit: jobs"),
            ([*PLAN, "--offer-choice", "best"], "--offer-choice: best is not one of largest, sampled"),
            ([*PLAN, "--seed", "-4"], "--seed: -4 is not a whole number of 0 or more"),
            ([*PLAN, "--threads", "-3"], "--threads: Value -3 not in range 0 to 4096"),
            ([*PLAN, "--objective", "profit"], "--objective: profit is not one of value, allocate"),
            ([*PLAN, "--log-format", "xml"], r"--log-format: xml not in \{text,json\}"),
            (["plan", *FILES, "--out", "c.yaml"], "--out: c.yaml is the file given as --cluster"),
            (["plan", *FILES, "--out", "./j.jsonl"], "--out: ./j.jsonl is the file given as --job"),
        ]:
            with self.subTest(words=words):
                self.assert_refused(self.berth(*words), 2, pattern)
        self.assertIn("schema: 1", (self.folder / "c.yaml").read_text())
        self.assertFalse((self.folder / "plan.json").exists())

    def test_ends_all_ranks_alike(self):
        # hydra joins the ranks' codes with OR: 1 on one rank and 2 on another would read as 3.
        for words in [["plna"], [*PLAN, "--xyzzy"], [*PLAN, "--gap", "7"], ["check", *FILES]]:
            with self.subTest(words=words):
                self.assert_refused(self.berth(*words, ranks=3), 2, "")

    def test_of_one_rank_alone_ends_all(self):
        for wrong in [["--xyzzy"], ["--gap", "7"], ["--time-limit", "0"]]:
            with self.subTest(wrong=wrong):
                rank = ["-n", "1", BERTH, *PLAN]
                command = [MPIEXEC, *rank, ":", *rank, *wrong, ":", *rank]
                self.assert_refused(finish(self.start(command), command), 2, wrong[0])

    def test_generate_refuses_absurd_numbers(self):
        out = ["--out-cluster", "g.yaml", "--out-jobs", "g.jsonl"]
        for flag, value in [("--gpus", "-5"), ("--gpus", "100000000000"), ("--jobs", "-7"),
                            ("--load", "-1"), ("--load", "1e300"), ("--gpus", "many"), ("--seed", "-4")]:
            with self.subTest(flag=flag, value=value):
                done = self.berth("generate", "hetero", flag, value, *out, ranks=3)
                self.assert_refused(done, 2, ".*" + flag.strip("-"))
        self.assertFalse((self.folder / "g.yaml").exists())

    def test_import_refuses_absurd_numbers(self):
        files = ["--nodes", "n.csv", "--pods", "p.csv", "--out-cluster", "g.yaml", "--out-jobs",
                 "g.jsonl"]
        for flag, value in [("--replicate", "0"), ("--prefix-percent", "-1"),
                            ("--require-cpu-only", "some")]:
            with self.subTest(flag=flag, value=value):
                done = self.berth("import", "openb", flag, value, *files, ranks=3)
                self.assert_refused(done, 2, flag.strip("-"))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulations: the checker agrees and finds planted faults, digests, jobs left out, usage."""
import json
import random

from program import ProgramTest, main


class SimulateTest(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(7)
        at, lines = 0, []
        for number in range(120):
            at += draw.randrange(60)
            size = draw.choice([{"gpus": 1}, {"gpus": 2}, {"gpus": 4}, {"count": 6, "gpus": 1},
                                {"gpu_milli": 300}])
            job = {"id": f"j{number}", "arrival": at, "tasks": [size],
                   "duration": draw.randrange(1, 900), "speed": {"H100": 1.7}}
            job["limit"] = 2 * job["duration"]
            if number % 4 == 0:
                job["deadline"] = at + 4000
            lines.append(json.dumps(job) + "\n")
        self.write("j.jsonl", "".join(lines))

    def simulate(self, *more, policy="fifo", out="run", **how):
        return self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--policy", policy,
                          "--out", out, *more, **how)

    def check_run(self, out="run"):
        return self.berth("check", "--cluster", "c.yaml", "--jobs", "j.jsonl", "--run", out)

    def summary(self, out="run"):
        return json.loads((self.folder / out / "summary.json").read_text())

    def test_the_checker_agrees_on_every_policy(self):
        for policy in ["fifo", "best-fit", "easy", "conservative", "sjf", "sjf-backfill", "wspt",
                       "srtf", "srsf", "las"]:
            for more in [], ["--estimates", "noisy", "--restart-cost", "30"]:
                self.assert_ends(self.simulate(*more, policy=policy), 0)
                done = self.check_run()
                self.assert_ends(done, 0)
                self.assertIn("run is VALID", done.out)
                self.assertEqual(self.summary()["figures"]["finished"], 120)

    def test_the_same_digest_on_any_number_of_ranks(self):
        digests = set()
        for ranks in None, 1, 2:
            self.assert_ends(self.simulate(policy="srsf", ranks=ranks), 0)
            digests.add(self.summary()["run_digest"])
        self.assertEqual(len(digests), 1)

    def test_the_checker_finds_planted_faults(self):
        self.assert_ends(self.simulate(policy="easy"), 0)
        path = self.folder / "run/jobs.jsonl"
        sound = path.read_text().splitlines()

        def fault(change, pattern):
            records = [json.loads(line) for line in sound]
            change(records)
            path.write_text("".join(json.dumps(one) + "\n" for one in records))
            done = self.check_run()
            self.assert_ends(done, 1)
            self.assertRegex(done.out, pattern)

        def earlier(records):
            records[5]["runs"][0]["start"] = records[5]["arrival"] - 1

        def everywhere(records):
            for record in records:
                if record["gpu_milli"] == 4000:
                    record["runs"][0]["tasks"][0]["machine"] = "a0"

        def longer(records):
            records[3]["runs"][0]["work"] += 5000000

        def fewer(records):
            big = next(r for r in records if len(r["runs"][0]["tasks"]) > 1)
            big["runs"][0]["tasks"].pop()

        fault(earlier, "starts before it arrived")
        fault(everywhere, "takes more of machine a0 than is free")
        fault(longer, "more than the clock allows")
        fault(fewer, "runs without all its tasks")
        fault(lambda records: records.pop(), "has no record")
        fault(lambda records: records[0].update(work=1), "has other work")

    def test_the_checker_finds_a_wrong_figure(self):
        self.assert_ends(self.simulate(), 0)
        summary = self.summary()
        summary["figures"]["jct_p95"] += 1
        (self.folder / "run/summary.json").write_text(json.dumps(summary))
        done = self.check_run()
        self.assert_ends(done, 1)
        self.assertIn("figure jct_p95", done.out)

    def test_jobs_that_cannot_run_are_named_and_the_others_run(self):
        self.write("j.jsonl", '{"id":"ok","duration":5,"tasks":[{"gpus":1}]}\n'
                              '{"id":"endless","tasks":[{"gpus":1}]}\n'
                              '{"id":"huge","duration":5,"tasks":[{"gpus":1,"count":99}]}\n')
        done = self.simulate()
        self.assert_ends(done, 0)
        self.assertIn("endless has neither duration nor limit", done.err)
        self.assertIn("huge fits no machines", done.err)
        self.assertEqual(self.summary()["figures"]["finished"], 1)
        self.assert_ends(self.check_run(), 0)

    def test_usage(self):
        self.assert_refused(self.simulate(policy="esay"), 2, '.*did you mean "easy"')
        self.assert_ends(self.simulate("--restart-cost", "-1"), 2)
        self.assert_ends(self.berth("check", "--cluster", "c.yaml", "--jobs", "j.jsonl"), 2)
        self.write("file", "")
        self.assert_ends(self.simulate(out="file/run"), 4)


if __name__ == "__main__":
    main()

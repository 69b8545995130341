#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run tells about itself: rounds in the plan and in the log, and the trace."""
import gzip
import json
from collections import defaultdict

from program import ProgramTest, main

MEASURED = ["messages", "bytes", "slowest_rank", "slowest_seconds", "mean_seconds"]


class Observed(ProgramTest):
    def setUp(self):
        super().setUp()
        self.generate(gpus=4096)

    def planned(self, *more, **how):
        done = self.plan("--shards", 4, *more, **how)
        self.assert_ends(done, 0)
        return done, self.read_plan()


class Rounds(Observed):
    def test_add_up(self):
        self.generate(gpus=16384)  # too large for passes of every run
        _, plan = self.planned(ranks=3)
        rounds = plan["rounds"]
        self.assertEqual([r["round"] for r in rounds], list(range(1, len(rounds) + 1)))
        self.assertEqual(len(rounds), plan["stats"]["rounds"])
        self.assertGreater(len(rounds), 0)
        for before, after in zip(rounds, rounds[1:]):
            self.assertAlmostEqual(after["objective"] - before["objective"], after["gain"], 6)
        added = plan["objective"] - rounds[-1]["objective"]  # by the last search and fill
        self.assertGreaterEqual(added, -1e-6)
        self.assertLess(added, 0.001 * plan["objective"])
        for r in rounds:
            self.assertAlmostEqual(r["gap"], 1 - r["objective"] / r["upper_bound"], 9)
            self.assertGreaterEqual(r["blocks"], r["commits"] + r["conflicts"] + r["refusals"])
            self.assertEqual(r["importance"] > 0, r["kind"] == "offers")
            self.assertIn(r["slowest_rank"], range(3))
            self.assertGreaterEqual(r["slowest_seconds"], r["mean_seconds"])
            self.assertGreater(r["bytes"], 0)
        for kind in ["offers", "regroup"]:
            self.assertGreater(sum(r["commits"] for r in rounds if r["kind"] == kind), 0)

    def test_are_told_in_the_log_too(self):
        done, plan = self.planned("--log-format", "json", ranks=2)
        lines = [json.loads(line) for line in done.lines()]
        told = [line for line in lines if line.get("stage") in ["coordinate", "regroup"]]
        self.assertEqual(len(told), len(plan["rounds"]))
        for line, record in zip(told, plan["rounds"]):
            for key in record:
                self.assertAlmostEqual(line[key], record[key], 9, key)

    def test_are_the_same_on_any_number_of_ranks(self):
        told = []
        for ranks in [None, 2, 5]:
            _, plan = self.planned(ranks=ranks)
            told.append([{k: v for k, v in r.items() if k not in MEASURED}
                         for r in plan["rounds"]])
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])


class Trace(Observed):
    def events(self, name, ranks):
        done, plan = self.planned("--trace-out", name, ranks=ranks)
        self.assert_ends(done, 0)
        raw = (self.folder / name).read_bytes()
        text = gzip.decompress(raw) if name.endswith(".gz") else raw
        return json.loads(text)["traceEvents"], plan

    def test_shows_stages_rounds_shards_and_messages_of_every_rank(self):
        for name, ranks in [("trace.json", 3), ("trace.json.gz", 3), ("trace.json", None)]:
            with self.subTest(name=name, ranks=ranks):
                events, plan = self.events(name, ranks)
                spans = defaultdict(list)
                for e in events:
                    if e["ph"] == "X":
                        spans[e["pid"]].append(e)
                        self.assertGreaterEqual(e["ts"], 0)
                        self.assertGreaterEqual(e["dur"], 0)
                self.assertEqual(sorted(spans), list(range(ranks or 1)))
                shards = []
                for rank in spans:
                    names = [e["name"] for e in spans[rank] if e["tid"] == 0]
                    for stage in ["load", "relax", "round", "coordinate", "certify"]:
                        self.assertEqual(names.count(stage), 1, stage)
                    for r in plan["rounds"]:
                        word = "round" if r["kind"] == "offers" else "regroup"
                    self.assertEqual(names.count(f"{word} {r['round']}"), 1)
                    shards += [n for n in names if n.startswith("shard ")]
                    messages = [e for e in spans[rank] if e["tid"] == 1]
                    self.assertEqual(bool(messages), ranks is not None)
                    self.assertTrue(all(e["args"]["bytes"] >= 0 for e in messages))
                self.assertEqual(sorted(shards), [f"shard {s}" for s in range(4)])

    def test_does_not_change_the_plan(self):
        _, plain = self.planned(ranks=2)
        _, traced = self.events("trace.json", 2)
        self.assertEqual(plain["plan_digest"], traced["plan_digest"])

    def test_never_replaces_the_input(self):
        done = self.plan("--trace-out", "c.yaml", ranks=2)
        self.assert_refused(done, 2, "--trace-out: c.yaml is the file given as --cluster")
        done = self.plan("--trace-out", "no/such/t.json")
        self.assert_refused(done, 4, "no/such/t.json: cannot write")


main()

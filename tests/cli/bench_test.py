#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth bench scale`: points, files, refusals."""
import csv
import json
import pathlib
import shutil

from program import ProgramTest, finish, main

PLOT = pathlib.Path(__file__).resolve().parents[2] / "bench/scale/plot"


class BenchScale(ProgramTest):
    def scale(self, *more, ranks=3):
        return self.berth("bench", "scale", "--repeat", 2, "--out-json", "s.json", "--out-csv",
                          "s.csv", *more, ranks=ranks)

    def results(self):
        with open(self.folder / "s.csv", newline="") as file:
            return json.loads((self.folder / "s.json").read_text()), list(csv.DictReader(file))

    def test_measures_what_plan_plans(self):
        self.generate(gpus=512)
        done = self.scale("--cluster", "c.yaml", "--jobs", "j.jsonl", "--shards", 2)
        self.assert_ends(done, 0)
        self.assert_ends(self.plan("--shards", 2), 0)
        plan = self.read_plan()
        document, lines = self.results()
        self.assertEqual([p["ranks"] for p in document["points"]], [1, 2, 3])
        for point in document["points"]:
            self.assertEqual(point["plan_digest"], plan["plan_digest"])
            self.assertTrue(point["same_digest"])
            self.assertEqual(point["gap"], plan["gap"])
            self.assertEqual(len(point["seconds_of_repeats"]), 2)
            self.assertEqual(len(point["peak_memory_mib"]), point["ranks"])
            named = {s["stage"]: s for s in point["stages"]}
            for stage in ["load", "relax", "round", "coordinate", "certify"]:
                self.assertEqual(len(named[stage]["ranks"]), point["ranks"], stage)
            self.assertEqual(sum(c["messages_per_rank"] for c in point["calls"]),
                             point["messages_per_rank"])
        self.assertIn("the same in every run", done.out)
        self.assertIn("MODELLED, not measured", done.out)
        whole = [l for l in lines if l["stage"] == "solve" and l["kind"] == "measured"]
        self.assertEqual([int(l["messages"]) for l in whole],
                         [p["messages_per_rank"] for p in document["points"]])

    def test_the_model_says_what_it_is(self):
        self.assert_ends(self.scale("--gpus", 256, "--model-ranks", "16,4096", "--latency-us", 3), 0)
        document, lines = self.results()
        model = document["model"]
        self.assertIn("not measured", model["note"])
        self.assertEqual(model["parameters"]["latency_us"], 3)
        self.assertEqual([p["ranks"] for p in model["points"]], [16, 4096])
        for point in model["points"]:
            self.assertEqual(point["messages_per_rank"],
                             document["points"][-1]["messages_per_rank"])
            total = sum(s["work"] + s["communication"] for s in point["stages"]
                        if s["stage"] != "load")
            self.assertAlmostEqual(point["seconds"], total, 9)
        self.assertEqual({l["kind"] for l in lines}, {"measured", "modelled"})

    def test_weak_grows_with_the_ranks(self):
        self.assert_ends(self.scale("--gpus", 128, "--weak", "--ranks", "3,1", "--preset",
                                    "philly-like"), 0)
        document, _ = self.results()
        self.assertEqual(document["scaling"], "weak")
        self.assertEqual([(p["ranks"], p["gpus"]) for p in document["points"]],
                         [(1, 128), (3, 384)])

    def test_results_can_be_drawn(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("no gnuplot")
        self.assert_ends(self.scale("--gpus", 128, "--ranks", "1,2"), 0)
        for name, code in [("s.csv", 0), ("c.yaml", 2)]:  # a cluster has no points
            command = [str(PLOT), "s.svg", name]
            self.assert_ends(finish(self.start(command), command), code)
        drawing = (self.folder / "s.svg").read_text()
        for word in ["<svg", "ranks", "measured", "modelled, not measured"]:
            self.assertIn(word, drawing)

    def test_refusals(self):
        self.assert_refused(self.scale("--ranks", "4"), 2,
                            "--ranks: 4 is more than the 3 there are; start it with mpiexec -n 4")
        self.assert_refused(self.scale("--weak", "--cluster", "c.yaml", "--jobs", "j.jsonl"), 2,
                            ".*--weak")
        self.assert_refused(self.scale("--cluster", "c.yaml"), 2, ".*--jobs")
        self.assert_refused(self.scale("--gpus", 0), 2, "")
        for output in ["--out-csv", "--out-json"]:
            done = self.berth("bench", "scale", output, "no/such", ranks=2)
            self.assert_refused(done, 4, "no/such: cannot write")
            done = self.berth("bench", "scale", output, "c.yaml", "--cluster", "c.yaml", "--jobs",
                              "j.jsonl", ranks=2)
            self.assert_refused(done, 2, f"{output}: c.yaml is the file given as --cluster")
        self.assert_refused(self.berth("bench", "scale", "--repeat", 0), 2, ".*--repeat")
        self.assert_refused(self.scale("--gap", 2), 2, ".*--gap")


main()

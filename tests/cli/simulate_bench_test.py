#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench/simulate/run`: its smoke, and what its table says of runs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[2] / "bench/simulate/run"
sys.path.insert(0, str(RUN.parent))
sys.dont_write_bytecode = True

import workloads  # noqa: E402


class SimulateBenchTest(unittest.TestCase):
    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, RUN, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_smoke(self):
        self.assertIn("all policies valid", self.run_it("smoke"))

    def test_gangs_beside_whole_machines_and_deadlines(self):
        rows = [workloads.Row(0, 100, 11, "a", 100), workloads.Row(1, 50, 11, "b", 149)]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            workloads.write(folder, rows, 2, 1, 1)
            self.simulate_fifo(folder)
            figures = json.loads((folder / "run/summary.json").read_text())["figures"]
        self.assertEqual([figures[key] for key in ("makespan", "with_deadline", "deadline_hits")],
                         [150, 2, 2])

    def simulate_fifo(self, folder):
        subprocess.run([os.environ["BERTH"], "simulate", "--cluster", folder / "c.yaml", "--jobs",
                        folder / "j.jsonl", "--policy", "fifo", "--out", folder / "run"],
                       check=True, stdout=subprocess.DEVNULL)

    def test_the_summary_pairs_windows(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "t.jsonl"
            with open(out, "w", encoding="utf-8") as file:
                for policy, window, jct in (("srsf", 0, 100.0), ("srsf", 1, 200.0),
                                            ("berth", 0, 90.0), ("berth", 1, 184.0)):
                    file.write(json.dumps({"trace": "gangs", "types": 1, "load": 0.9, "more": "",
                                           "knowledge": "exact", "restart": 60, "policy": policy,
                                           "window": window, "figures": {"jct_mean": jct}}) + "\n")
            # -10 % and -8 %: mean -9, half width 12.706 x 1 / 1
            self.assertIn("137 (-9.0 ± 12.7)", self.run_it("summary", str(out)))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Test cases that share one throw-away Slurm (slurm/testbed/testbed.py tells how to ask for nodes).

    from case import SlurmTest, main

    class Batch(SlurmTest):
        bed = {"nodes": [real_node(cpus=4)]}      # arguments of Testbed

        def test_runs(self):
            job = self.slurm.output("sbatch", "--parsable", "--output=out", "--wrap", "hostname",
                                    cwd=self.folder)
            self.assertEqual(self.slurm.wait(job)["ExitCode"], "0:0")

    main()
"""
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "slurm" / "testbed"))
import processes  # noqa: E402,F401
import testbed  # noqa: E402
from testbed import cloud_nodes, real_node, tree  # noqa: E402,F401

BERTH = os.environ["BERTH"]
MPIEXEC = os.environ["MPIEXEC"]


class SlurmTest(unittest.TestCase):
    bed = {}

    @classmethod
    def setUpClass(cls):
        cls.slurm = testbed.Testbed(**cls.bed)
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.stop)

    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="berth-slurm-test-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)


def main():
    why = testbed.missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main(verbosity=2)

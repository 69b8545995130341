#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The throw-away Slurm itself: it runs jobs, gives cloud nodes away, and leaves nothing behind."""
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from case import ROOT, SlurmTest, cloud_nodes, main, real_node, tree


class Jobs(SlurmTest):
    bed = {"nodes": [real_node(cpus=4, more="Gres=gpu:a100:2"),
                     cloud_nodes("c[00-63]", gpus=8, gpu_type="h100")],
           "topology": tree("c", 64, 2, leaf=16) + "SwitchName=front Nodes=n0\n"}

    def submit(self, *arguments):
        return self.slurm.output("sbatch", "--parsable", "--output=out", *arguments,
                                 cwd=self.folder)

    def test_run_on_the_real_node(self):
        job = self.submit("--nodelist=n0", "--ntasks=4", "--gpus=a100:2",
                          "--wrap", "srun --mpi=pmi2 hostname; exit 7")
        self.assertEqual(self.slurm.wait(job)["ExitCode"], "7:0")
        self.assertEqual(len((self.folder / "out").read_text().split()), 4)

    def test_get_the_cloud_nodes_they_ask_for(self):
        wanted = self.submit("--nodes=2", "--nodelist=c[17,40]", "--gpus-per-node=h100:8",
                             "--wrap", "true")
        near = self.submit("--nodes=16", "--gpus-per-node=h100:8", "--wrap", "true")
        nodes = self.slurm.wait(wanted, states=("CONFIGURING",))["NodeList"]
        self.assertEqual(nodes, "c[17,40]")
        nodes = self.slurm.wait(near, states=("CONFIGURING",))["NodeList"]
        self.assertIn(nodes, ["c[00-15]", "c[48-63]"])  # one leaf, and not one of the taken
        self.slurm.run("scancel", wanted, near)


def started_in(folder):
    """Ids of the programs whose folder or command line is that of a throw-away Slurm."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if folder in f"{(process / 'cwd').readlink()} {(process / 'cmdline').read_text()}":
                found.append(int(process.name))
        except OSError:
            pass
    return found


class Ending(unittest.TestCase):
    def start(self, command):
        self.bed = subprocess.Popen(
            [sys.executable, ROOT / "slurm/testbed/testbed.py", "--", "sh", "-c",
             f"dirname $SLURM_CONF; {command}"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.bed.stdout.close)
        folder = self.bed.stdout.readline().strip()
        self.assertGreaterEqual(len(started_in(folder)), 3)
        return folder

    def assert_nothing_left(self, folder):
        began = time.monotonic()
        while started_in(folder) and time.monotonic() - began < 10:
            time.sleep(0.1)
        self.assertEqual(started_in(folder), [])

    def test_takes_running_jobs_and_their_strays_along(self):
        folder = self.start('cd "$(dirname $SLURM_CONF)" && sbatch -Q -o out --wrap '
                            '"setsid sleep 1000 & echo on >out; srun sleep 1000"; '
                            'until grep -qs on out; do sleep 0.1; done')
        self.assertEqual(self.bed.wait(60), 0)
        self.assert_nothing_left(folder)
        self.assertFalse(pathlib.Path(folder).exists())

    def test_daemons_end_with_a_killed_test(self):
        folder = self.start("sleep 5")
        self.bed.send_signal(signal.SIGKILL)
        self.bed.wait()
        self.assert_nothing_left(folder)


main()

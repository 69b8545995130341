#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A throw-away Slurm on loopback: munged, slurmctld and one slurmd in a temporary folder.

From a shell, COMMAND and its child processes use that Slurm and no other:

    slurm/testbed/testbed.py [--cpus 4] [--cloud 64 --gpus 8 --leaf 16] -- COMMAND...

From a test:

    with Testbed(nodes=[real_node(cpus=4), cloud_nodes("c[00-63]", gpus=8)],
                 topology=tree("c", 64, 2, leaf=16)) as slurm:
        job = slurm.output("sbatch", "--parsable", "--hold", "job.sh")
        slurm.run("scontrol", "release", job)
        print(slurm.wait(job)["ExitCode"])

A real node runs jobs on this machine. Cloud nodes have no machine behind them: the scheduler gives
them to jobs, which then stay in state CONFIGURING on the nodes they got. Every daemon is ended by
its id, with whatever the jobs left behind. `missing()` returns the reason why no Slurm can be started here.
Needs the packages slurm-wlm and munge (for accounting mariadb-server-core and slurmdbd); root is not
needed.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import accounting
import configuration
import processes
from configuration import cloud_nodes, real_node, tree

PATIENCE = 60  # seconds for a daemon to answer

# "slurm-wlm-emulator" takes the plain names away by alternatives, so Debian's own names go first.
# They are started under the plain names all the same: a slurmctld that finds itself called
# otherwise ignores every Gres of slurm.conf.
DAEMONS = {"munged": ["munged"], "slurmctld": ["slurmctld-wlm", "slurmctld"],
           "slurmd": ["slurmd-wlm", "slurmd"]}
ACCOUNTING = {"mariadbd": ["mariadbd"], "slurmdbd": ["slurmdbd"]}
CLIENTS = ["sbatch", "srun", "squeue", "sinfo", "scontrol", "scancel"]
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")


def find(names):
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin:/sbin"
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def missing(with_accounting=False):
    """Why no Slurm can be started here, or None."""
    absent = [name for name, names in DAEMONS.items() if not find(names)]
    absent += [name for name in CLIENTS if not find([name])]
    if absent:
        return f"not installed: {' '.join(absent)} (packages slurm-wlm munge)"
    absent = [name for name, names in ACCOUNTING.items() if with_accounting and not find(names)]
    return (f"not installed: {' '.join(absent)} (packages mariadb-server-core slurmdbd)"
            if absent else None)


class Testbed:
    """See the top of this file. `settings` are further lines of slurm.conf. `associations`: start
    slurmdbd, too, and give sacctmgr these lists of arguments."""

    __test__ = False  # no test case, whatever its name

    def __init__(self, nodes=None, partitions=None, topology="", settings=(),
                 associations=None):
        self.nodes = nodes or [real_node()]
        self.partitions = partitions or [
            "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE"]
        self.topology, self.settings, self.associations = topology, settings, associations
        real = filter(configuration.is_real, self.nodes)
        self.real = next(map(configuration.name_of, real), None)
        self.daemons = []

    def __enter__(self):
        why = missing(self.associations is not None)
        if why:
            raise RuntimeError(why)
        processes.adopt_orphans()
        self.before = set(processes.descendants())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-slurm-"))
        self.folder.chmod(0o755)
        # We may run inside a job of another Slurm: nothing of that one passes on.
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("SLURM", "SBATCH_", "SQUEUE_", "SINFO_", "PMI_"))}
        self.env["SLURM_CONF"] = str(self.folder / "slurm.conf")
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- daemons

    def start(self):
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o400)
        for name in ["state", "spool"]:
            (self.folder / name).mkdir()
        [port] = configuration.free_ports(1)
        kept = accounting.settings(self.folder, port) if self.associations is not None else []
        configuration.write(self.folder, self.nodes, self.partitions, self.topology,
                            [*kept, *self.settings])
        self.daemon("munged", "--foreground", "--force", "--origin=127.0.0.1", "--num-threads=4",
                    *(f"--{what}={self.folder}/{name}" for what, name in
                      [("socket", "munge.socket"), ("key-file", "munge.key"),
                       ("pid-file", "munged.pid"), ("log-file", "munged.log"),
                       ("seed-file", "munged.seed")]))
        self.until(lambda: (self.folder / "munge.socket").exists(), "munged")
        if self.associations is not None:
            self.start_accounting(port)
        self.daemon("slurmctld", "-D", "-i")
        self.until(lambda: self.try_run("scontrol", "ping").returncode == 0, "slurmctld")
        for words in self.associations or []:  # slurmctld has told slurmdbd the kinds of GPUs
            self.run("sacctmgr", "-i", *words)
        if self.real:
            self.daemon("slurmd", "-D", "-N", self.real)
            self.until(lambda: self.try_run("sinfo", "-h", "-o", "%t", "-n", self.real)
                       .stdout.strip() == "idle", "slurmd")

    def start_accounting(self, port):
        program = find(ACCOUNTING["mariadbd"])
        accounting.create_database(program, self.folder)
        self.daemon(*accounting.mariadbd("mariadbd", self.folder),
                    *accounting.server_arguments(self.folder))
        socket = self.folder / "mysql.socket"
        self.until(socket.exists, "mariadbd")
        accounting.write_slurmdbd_conf(self.folder, port)
        self.env["MYSQL_UNIX_PORT"] = str(socket)
        self.daemon("slurmdbd", "-D")
        self.until(lambda: self.try_run("sacctmgr", "-i", "add", "cluster", "throwaway")
                   .returncode == 0, "slurmdbd")

    def daemon(self, name, *arguments):
        log = open(self.folder / f"{name}.out", "w", encoding="utf-8")
        self.daemons.append((name, subprocess.Popen(
            [name, *arguments], executable=find({**DAEMONS, **ACCOUNTING}[name]), env=self.env, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            preexec_fn=processes.end_with_parent)))
        log.close()

    def until(self, ready, name):
        """Waits until the newest daemon is ready; prints its log when it is not."""
        began = time.monotonic()
        while not ready():
            ended = self.daemons[-1][1].poll() is not None
            if ended or time.monotonic() - began > PATIENCE:
                raise RuntimeError(f"{name} {'ended' if ended else 'does not answer'}:\n"
                                   f"{self.log(name)}\n{self.try_run('sinfo', '-NRl').stdout}")
            time.sleep(0.05)

    def log(self, name):
        """The last lines of a daemon's log."""
        lines = (self.folder / f"{name}.out").read_text(errors="replace").splitlines()
        return "\n".join(lines[-25:])

    def stop(self):
        """Ends jobs first, else their steps outlive slurmd; then daemons; then other processes, by id."""
        if self.real and any(name == "slurmd" for name, _ in self.daemons):
            self.try_run("scancel", "--full", "--signal=KILL", f"--nodelist={self.real}")
        for name, running in reversed(self.daemons):
            running.kill() if name == "mariadbd" else running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
        processes.end_all_but(self.before)
        self.daemons = []
        if not os.environ.get("BERTH_KEEP_SLURM"):  # to look at the logs
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- clients

    def try_run(self, *command, variables=None, **how):
        """`variables` are added to the environment."""
        env = {**self.env, **{key: str(value) for key, value in (variables or {}).items()}}
        return subprocess.run([str(part) for part in command], env=env, text=True,
                              errors="replace", capture_output=True, **how)

    def run(self, *command, **how):
        """Runs a client of this Slurm; a failure becomes an error with its output."""
        done = self.try_run(*command, **how)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                               f"{done.stdout}{done.stderr}")
        return done

    def output(self, *command, **how):
        return self.run(*command, **how).stdout.strip()

    def job(self, number):
        """Fields of `scontrol show job`, by key."""
        return dict(part.split("=", 1) for part in
                    self.output("scontrol", "-o", "show", "job", number).split() if "=" in part)

    def wait(self, number, seconds=PATIENCE, states=ENDED):
        """The job once it is in one of these states."""
        began = time.monotonic()
        while (job := self.job(number))["JobState"] not in states:
            if time.monotonic() - began > seconds:
                raise RuntimeError(f"job {number} still {job['JobState']} ({job['Reason']}) after "
                                   f"{seconds} s\n{self.log('slurmctld')}")
            time.sleep(0.1)
        return job


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--cpus", type=int, default=4, help="of the real node")
    parser.add_argument("--cloud", type=int, default=0, help="nodes without machines behind them")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of each")
    parser.add_argument("--leaf", type=int, default=16, help="of them under one leaf switch")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    why = missing()
    if why:
        print(f"skipped: {why}")
        return 77
    nodes, topology = [real_node(cpus=asked.cpus)], ""
    partitions = ["PartitionName=main Nodes=n0 Default=YES MaxTime=INFINITE"]
    if asked.cloud:
        width = len(str(asked.cloud - 1))
        names = f"c[{0:0{width}d}-{asked.cloud - 1:0{width}d}]"
        nodes.append(cloud_nodes(names, gpus=asked.gpus))
        partitions.append(f"PartitionName=gpu Nodes={names} MaxTime=INFINITE")
        topology = tree("c", asked.cloud, width, asked.leaf) + "SwitchName=front Nodes=n0\n"
    with Testbed(nodes, partitions, topology) as slurm:
        return subprocess.call(asked.command, env=slurm.env)


if __name__ == "__main__":
    sys.exit(main())

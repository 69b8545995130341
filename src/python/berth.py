# SPDX-License-Identifier: Apache-2.0
"""Plans of GPU clusters from Python: calls the program `berth` and reads its files.

    import berth
    plan = berth.plan(cluster, jobs, gap="1%")
    plan.placed["llm-4"].machines, plan.waiting["llm-5"], plan.gap

Clusters and jobs are the content of cluster.yaml and jobs.jsonl (docs/formats.md) as dicts and
lists, or paths of files. Options are those of the command line with `_` for `-`; True gives a flag.
Needs Python 3.9 and nothing else. One call is one run of the program: about 0.1 s.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

Cluster = Union[str, os.PathLike, Mapping[str, Any]]
Jobs = Union[str, os.PathLike, Iterable[Mapping[str, Any]]]

DONE, INVALID, BAD_INPUT, CUT_SHORT, INTERNAL, REQUIRED_MISSING = range(6)
"""Exit codes of the program."""


class Error(Exception):
    """The program refused the input or failed. `code` is its exit code."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Task:
    """A task on a machine; thousandths of each of its GPUs by their index."""
    shape: str
    machine: str
    gpus: Mapping[int, int]


@dataclasses.dataclass(frozen=True)
class Placement:
    """A job with all its tasks. In a plan in time `start` and `end` are seconds."""
    job: str
    tasks: tuple[Task, ...]
    start: int = 0
    end: Optional[int] = None

    @property
    def machines(self) -> list[str]:
        """Distinct, in the order of the tasks."""
        return list(dict.fromkeys(task.machine for task in self.tasks))


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the program decided. No plan is better than `bound`: that is proved."""
    objective: float
    bound: float
    gap: float
    placed: Mapping[str, Placement]
    waiting: Mapping[str, str]  # reason by job
    required_missing: tuple[str, ...]
    cut_short: bool  # a limit or a signal ended the search
    text: str  # of the plan file, for `check`
    content: Mapping[str, Any] = dataclasses.field(repr=False)  # all of the plan file


def parse(text: str, cut_short: bool = False) -> Plan:
    """The plan in the text of a plan file."""
    content = json.loads(text)
    placed = {}
    for entry in content["placements"]:
        tasks = tuple(Task(t["shape"], t["machine"], {g["index"]: g["milli"] for g in t["gpus"]})
                      for t in entry["tasks"])
        placed[entry["job"]] = Placement(entry["job"], tasks, entry["start"], entry.get("end"))
    return Plan(content["objective"],
                content["upper_bound"] if "upper_bound" in content else content["bound"],
                content["gap"], placed, {w["job"]: w["reason"] for w in content["waiting"]},
                tuple(content.get("required_missing", ())), cut_short, text, content)


def plan(cluster: Cluster, jobs: Jobs, *, ranks: Optional[int] = None,
         program: Optional[str] = None, **options: Any) -> Plan:
    """Runs `berth plan`, under mpiexec when a number of ranks is given.

    Raises Error when the program writes no plan."""
    with tempfile.TemporaryDirectory(prefix="berth-") as folder:
        out = pathlib.Path(folder, "plan.json")
        words = ["plan", *_inputs(folder, cluster, jobs), "--out", str(out), *_flags(options)]
        done = _run(words, ranks, program)
        if done.returncode not in (DONE, CUT_SHORT, REQUIRED_MISSING):
            raise Error(done.returncode, _message(done))
        return parse(out.read_text(encoding="utf-8"), done.returncode == CUT_SHORT)


def check(cluster: Cluster, jobs: Jobs, judged: Plan, *, program: Optional[str] = None) -> list[str]:
    """Faults that `berth check` finds in a plan; an empty list: the plan and its bound hold."""
    with tempfile.TemporaryDirectory(prefix="berth-") as folder:
        path = pathlib.Path(folder, "plan.json")
        path.write_text(judged.text, encoding="utf-8")
        done = _run(["check", *_inputs(folder, cluster, jobs), "--plan", str(path)], None, program)
        if done.returncode not in (DONE, INVALID):
            raise Error(done.returncode, _message(done))
        lines = [line.strip() for line in done.stdout.splitlines()]
        return [line[len("fault "):] for line in lines if line.startswith("fault ")]


def _inputs(folder: str, cluster: Cluster, jobs: Jobs) -> list[str]:
    return ["--cluster", _file(folder, "cluster.yaml", cluster, lambda c: json.dumps(c)),
            "--jobs", _file(folder, "jobs.jsonl", jobs,
                            lambda all_jobs: "".join(json.dumps(job) + "\n" for job in all_jobs))]


def _file(folder: str, name: str, content: Any, text: Any) -> str:
    """A path as it is, or a file with the content: JSON is YAML too."""
    if isinstance(content, (str, os.PathLike)):
        return os.fspath(content)
    path = pathlib.Path(folder, name)
    path.write_text(text(content), encoding="utf-8")
    return str(path)


def _flags(options: Mapping[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not False and value is not None:
            words.append(f"{flag}={value}")
    return words


def _run(words: list[str], ranks: Optional[int], program: Optional[str]) -> subprocess.CompletedProcess:
    launcher = [] if ranks is None else [os.environ.get("MPIEXEC", "mpiexec"), "-n", str(ranks)]
    berth = program or os.environ.get("BERTH", "berth")
    return subprocess.run([*launcher, berth, *words], capture_output=True, text=True, check=False,
                          errors="replace", stdin=subprocess.DEVNULL)


def _message(done: subprocess.CompletedProcess) -> str:
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"berth ended with exit code {done.returncode}"

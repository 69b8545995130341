# SPDX-License-Identifier: Apache-2.0
"""Tracks the processes that a throw-away Slurm starts, so that each can be ended by its id. Linux."""
import ctypes
import os
import pathlib
import signal
import time


def end_with_parent():
    """In a child: ask for SIGTERM should the parent be killed (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def adopt_orphans():
    """Daemonised descendants become our children, so that we can find them
    (PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None).prctl(36, 1)


def descendants():
    """Ids of our running descendants, children before grandchildren."""
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
        except (OSError, IndexError):
            pass  # gone meanwhile
    found, todo = [], [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def end_all_but(spared, patience=2):
    """Asks our other descendants to end, then kills them. `spared`: ids to leave alone."""
    for number in [signal.SIGTERM, signal.SIGKILL]:
        for one in set(descendants()) - spared:
            try:
                os.kill(one, number)
            except ProcessLookupError:
                pass
        began = time.monotonic()
        while (left := set(descendants()) - spared) and time.monotonic() - began < patience:
            for one in left:
                try:
                    os.waitpid(one, os.WNOHANG)
                except ChildProcessError:
                    pass  # a grandchild, or gone
            time.sleep(0.02)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the tables of docs/papers.md between their markers, from the CSV files of papers_bench.

usage: tables.py FOLDER PAGE [OUT]     FOLDER has the CSV files; OUT is PAGE if it is left out

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. A marker without a table, a table
without a marker and a row that a CSV file lacks are errors; a table whose CSV files are not all in
FOLDER stays as it is.
"""
import csv
import re
import sys
from pathlib import Path

from table_rows import TABLES

MARKED = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Fault(Exception):
    """What is wrong with the page or the CSV files."""


class Missing(Exception):
    """The CSV file of an experiment that was not run."""


class Row:
    """One scheduler in one setting: mean, and what it has to the first of them."""

    def __init__(self, fields):
        self.seeds = int(fields["seeds"])
        self.mean, self.half = float(fields["mean"]), float(fields["half_width"])
        self.difference = float(fields["difference"])
        self.difference_half = float(fields["difference_half_width"])
        self.ratio = float(fields["ratio"])


class Results:
    """Rows by experiment, setting, metric and scheduler."""

    def __init__(self, folder):
        self.folder, self.files = Path(folder), {}

    def rows(self, experiment):
        path = self.folder / f"{experiment}.csv"
        if experiment not in self.files:
            if not path.exists():
                raise Missing(path.name)
            with path.open(newline="") as file:
                self.files[experiment] = {
                    (fields["setting"], fields["metric"], fields["scheduler"]): Row(fields)
                    for fields in csv.DictReader(file)}
        return self.files[experiment]

    def row(self, experiment, setting, metric, scheduler):
        found = self.rows(experiment).get((setting, metric, scheduler))
        if found is None:
            raise Fault(f"{experiment}.csv has no row \"{setting}\", \"{metric}\", \"{scheduler}\"")
        return found


def markdown(rows):
    """The first row is the head."""
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"


def with_tables(page, results, tables):
    """The page with its tables, and the names of those whose CSV files are missing."""
    named = [match.group(2) for match in MARKED.finditer(page)]
    opened = re.findall(r"<!-- table: (\S+) -->", page)
    for name in opened:
        if name not in tables:
            raise Fault(f"the page has a marker of {name}, which is no table")
        if opened.count(name) != 1 or name not in named:
            raise Fault(f"the marker of {name} has no end, or stands twice")
    for name in tables:
        if name not in named:
            raise Fault(f"the page has no marker of the table {name}")
    kept = []

    def put(match):
        try:
            return match.group(1) + markdown(tables[match.group(2)](results)) + match.group(3)
        except Missing as missing:
            kept.append(f"{match.group(2)} ({missing})")
            return match.group(0)

    return MARKED.sub(put, page), kept


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    page = Path(arguments[1])
    try:
        text, kept = with_tables(page.read_text(), Results(arguments[0]), TABLES)
    except Fault as fault:
        print(f"{page}: {fault}", file=sys.stderr)
        return 1
    Path(arguments[-1]).write_text(text)
    if kept:
        print("left as they are, without CSV file: " + ", ".join(kept), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

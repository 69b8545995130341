#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/papers.md: what a CSV file says stands in them; what does not fit is an error."""
import sys
import tempfile
import unittest
from pathlib import Path

import tables
from table_rows import TABLES, pivot, compared, mean, rounded

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
HEAD = "setting,metric,scheduler,seeds,mean,half_width,difference,difference_half_width,ratio\n"
CSV = HEAD + """\
"small","utility","own",30,200.4,9,0,0,1
"small","utility","other, slow",30,150.2,8,-50.2,3.4,0.7495
"large","utility","own",30,1234.5,9,0,0,1
"large","utility","other, slow",30,1234.5,9,0,0,1
"""


def two(results):
    return pivot(results, "e", "utility", ["setting", "own", "other"],
                 [("small", "small one"), ("large", "large")],
                 [("own", mean), ("other, slow", compared)])


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        (self.path / "e.csv").write_text(CSV)

    def put(self, page, known):
        return tables.with_tables(page, tables.Results(self.path), known)

    def test_a_table_is_what_the_csv_file_says(self):
        page, kept = self.put("before\n<!-- table: two -->\nold\n<!-- end -->\nafter\n",
                              {"two": two})
        self.assertEqual(page, """\
before
<!-- table: two -->
| setting | own | other |
|---|---|---|
| small one | 200 | 0.75 (-50 +- 3) |
| large | 1,234 | 1.000 |
<!-- end -->
after
""")
        self.assertEqual(kept, [])
        self.assertEqual(self.put(page, {"two": two})[0], page)

    def test_markers_and_tables_belong_together(self):
        good = "<!-- table: two -->\n<!-- end -->\n"
        for page, known, words in [
                (good, {}, "marker of two, which is no table"),
                ("", {"two": two}, "no marker of the table two"),
                (good + good, {"two": two}, "stands twice"),
                ("<!-- table: two -->\n", {"two": two}, "has no end"),
                ("<!-- table: two -->\n" + good, {"two": two}, "stands twice")]:
            with self.subTest(words=words), self.assertRaisesRegex(tables.Fault, words):
                self.put(page, known)

    def test_a_row_that_the_csv_file_lacks_is_named(self):
        (self.path / "e.csv").write_text("".join(CSV.splitlines(keepends=True)[:-1]))
        with self.assertRaisesRegex(tables.Fault, 'e.csv has no row "large", .*"other, slow"'):
            self.put("<!-- table: two -->\n<!-- end -->\n", {"two": two})

    def test_a_table_whose_csv_file_is_not_there_stays(self):
        (self.path / "e.csv").unlink()
        page = "<!-- table: two -->\nold\n<!-- end -->\n"
        self.assertEqual(self.put(page, {"two": two}), (page, ["two (e.csv)"]))

    def test_half_widths_say_how_many_digits_stand(self):
        self.assertEqual(rounded(-1122.4, 103.2, "+"), "-1,122 +- 103")
        self.assertEqual(rounded(-0.0664, 0.0021, "+"), "-0.066 +- 0.002")
        self.assertEqual(rounded(4.04, 0.93), "4.0 +- 0.9")
        self.assertEqual(rounded(0.941, 0.172), "0.94 +- 0.17")
        self.assertEqual(rounded(-0.3, 15, "+"), "0 +- 15")

    def test_the_page_has_all_tables(self):
        page = PAGE.read_text()
        (self.path / "e.csv").unlink()
        text, kept = self.put(page, TABLES)
        self.assertEqual(text, page)
        self.assertEqual(len(kept), len(TABLES))


if __name__ == "__main__":
    sys.exit(unittest.main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/start.md: every command of it ends well, in order, and says what the page promises."""
import os
import pathlib
import re
import subprocess
import tempfile

from program import BERTH, ProgramTest, main

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "start.md"


def blocks(text):
    """(words after the fence, content) of each fenced block."""
    return re.findall(r"^```(\S* ?\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Start(ProgramTest):
    def test_every_command_of_the_page(self):
        output = []
        with tempfile.TemporaryDirectory() as folder:
            path = f"{pathlib.Path(BERTH).parent}:{os.environ['PATH']}"
            for kind, content in blocks(PAGE.read_text()):
                language, _, file = kind.partition(" ")
                if file:
                    (pathlib.Path(folder) / file).write_text(content)
                if language != "sh":
                    continue
                for command in content.splitlines():
                    done = subprocess.run(["sh", "-c", command], cwd=folder, text=True,
                                          env={**os.environ, "PATH": path}, timeout=60,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
                    output.append((command, done.stdout))
        self.assertGreater(len(output), 14)
        self.expect(output, "berth check", "plan is VALID")
        self.expect(output, "berth plan cluster.yaml jobs.jsonl", "jobs          2 of 3 placed")
        self.expect(output, "berth explain plan.json", "count: 24 tasks instead of 30")
        self.expect(output, "berth running", "2 of 3 jobs run")
        self.expect(output, "berth diff now.json", "urgent")
        self.expect(output, "berth diff evacuation.json", "llm")
        self.expect(output, "berth explain quota.json", "quota")
        self.expect(output, "berth plan larger.yaml", "jobs          3 of 3 placed")

    def expect(self, output, command, words):
        told = next(text for line, text in output if line.startswith(command))
        self.assertIn(words, told)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `berth report` in a browser: numbers, map, keys, hostile names, accessibility."""
import json
import pathlib
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import AXE, Browser  # noqa: E402
from program import JOBS, ProgramTest, main  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

WAITS = '{"id": "large", "tasks": [{"shape": "worker", "count": 9, "gpus": 4}]}\n'
EVIL = '</script><img/src=x/onerror=alert(1)>'
RAMP = [(0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (200, 184, 102), (254, 232, 56)]


def ramp(part):
    position = min(0.999, part) * (len(RAMP) - 1)
    i = int(position)
    return [round(a + (b - a) * (position - i)) for a, b in zip(RAMP[i], RAMP[i + 1])]


class Pages(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.driver.quit)

    def page(self, jobs=JOBS + WAITS, *more):
        self.write("j.jsonl", jobs)
        self.assert_ends(self.plan(*more), 0)
        return self.report()

    def report(self):
        self.assert_ends(self.berth("report", "plan.json", "--cluster", "c.yaml", "--jobs",
                                    "j.jsonl", "--html", "page.html"), 0)
        return self.folder / "page.html"

    def assert_quiet(self):
        """No message of the browser, and nothing but the page was asked for."""
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([u for u in self.browser.requests() if not u.endswith("/page.html")
                          and u != "data:,"], [])

    def state(self):
        return self.browser.driver.find_element(By.ID, "map-state").text

    def shares(self):
        """Per cent of the GPUs of each machine that the plan takes."""
        milli = {}
        for placed in self.read_plan()["placements"]:
            for task in placed["tasks"]:
                taken = sum(gpu["milli"] for gpu in task["gpus"])
                milli[task["machine"]] = milli.get(task["machine"], 0) + taken
        return {m: int((milli.get(m, 0) + 20) / 40) for m in ["a0", "a1", "h0"]}

    def test_numbers_are_those_of_the_plan_in_every_size_and_scheme(self):
        path = self.page()
        plan = self.read_plan()
        for width in [360, 1920]:
            for scheme in ["light", "dark"]:
                self.browser.open(path, width, scheme)
                told = dict(self.browser.run(
                    "return [...document.querySelectorAll('[data-figure]')]"
                    ".map(e => [e.dataset.figure, e.value])"))
                for name, key in [("objective", "objective"), ("bound", "upper_bound"),
                                  ("gap", "gap"), ("jobs_placed", "jobs_placed")]:
                    self.assertAlmostEqual(float(told[name]), plan[key], 9, name)
                self.assertLessEqual(self.browser.overflow(), 0)
                self.assert_quiet()

    def test_map_tells_of_every_machine_what_the_plan_has_there(self):
        self.browser.open(self.page())
        field = self.browser.driver.find_element(By.ID, "map-find")
        for machine, share in self.shares().items():
            field.clear()
            field.send_keys(machine)
            self.assertIn(f"{machine} (rack ", self.state())
            self.assertIn(f": {share} % of its GPUs busy", self.state())
            jobs = {p["job"] for p in self.read_plan()["placements"] for t in p["tasks"]
                    if t["machine"] == machine}
            told = re.search("; jobs? (.*)$", self.state())
            self.assertEqual(set(told.group(1).split(", ")) if told else set(), jobs)

    def test_colours_of_the_map_are_those_of_the_shares(self):
        self.browser.open(self.page())
        canvas = self.browser.driver.find_element(By.ID, "map")
        seen = set()
        for x in range(-600, 600, 40):
            ActionChains(self.browser.driver, duration=0).move_to_element_with_offset(
                canvas, x, 0).perform()
            told = re.search(r"^(\S+) .*: (\d+) % of", self.state())
            if not told:
                continue
            seen.add(told.group(1))
            colour = self.browser.run(
                "const c = arguments[0], d = c.getContext('2d').getImageData("
                "c.width / 2 + arguments[1], c.height / 2, 1, 1).data; return [d[0], d[1], d[2]]",
                canvas, x)
            expected = ramp(int(told.group(2)) / 100)
            self.assertLessEqual(max(abs(a - b) for a, b in zip(colour, expected)), 2, told.group(0))
        self.assertGreaterEqual(len(seen), 2)

    def test_keys_reach_and_walk_the_map(self):
        self.browser.open(self.page())
        driver = self.browser.driver
        for _ in range(60):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            if driver.switch_to.active_element.get_attribute("id") == "map":
                break
        else:
            self.fail("the map cannot be reached by keys")
        seen = []
        for key in [Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, "+", "0"]:
            ActionChains(driver).send_keys(key).perform()
            seen.append(self.state().split(" ")[0])
        self.assertEqual(seen, ["a0", "a1", "a0", "a0", "a0"])

    def test_tables_are_there_without_scripts(self):
        self.browser.open(self.page(), scripts=False)
        text = self.browser.driver.find_element(By.TAG_NAME, "main").text
        for words in ["below the best possible plan", "gang too large", "By rack", "Table"]:
            self.assertIn(words, text + self.browser.driver.page_source)
        self.assertFalse(self.browser.driver.find_element(By.ID, "map").is_displayed())

    def test_names_do_nothing(self):
        cluster = json.dumps({
            "schema": 1, "classes": {EVIL: {"gpu_type": EVIL, "gpus": 4}},
            "queues": [{"id": EVIL, "gpu_quota": 3}],
            "pods": [{"id": EVIL, "racks": [{"id": EVIL, "machines": [{"ids": EVIL, "class": EVIL}]}]}]})
        self.write("c.yaml", cluster)
        jobs = [{"id": f"{EVIL}{i}", "queue": EVIL, "tasks": [{"gpus": 3}]} for i in range(2)]
        self.browser.open(self.page("".join(json.dumps(job) + "\n" for job in jobs)))
        self.assertEqual(self.browser.run("return document.images.length"), 0)
        self.assertIn(EVIL, self.browser.driver.find_element(By.TAG_NAME, "main").text)
        self.browser.driver.find_element(By.ID, "map-find").send_keys(EVIL)
        self.assertIn(EVIL, self.state())
        self.assert_quiet()

    @unittest.skipUnless(AXE.exists(), "no axe-core: tests/web/fetch_axe")
    def test_has_no_barriers(self):
        path = self.page()
        for scheme in ["light", "dark"]:
            self.browser.open(path, scheme=scheme)
            self.assertEqual(self.browser.barriers(), [])

    def test_plan_in_time_has_bars(self):
        jobs = [{"id": f"j{j}", "duration": 1200, "tasks": [{"gpus": 4}]} for j in range(7)]
        self.browser.open(self.page("".join(json.dumps(job) + "\n" for job in jobs),
                                    "--horizon", "1h"), 360)
        bars = self.browser.driver.find_elements(By.CSS_SELECTOR, "#time g")
        self.assertEqual(len(bars), len(self.read_plan()["placements"]))
        self.assertLessEqual(self.browser.overflow(), 0)
        self.assert_quiet()

    def test_simulation_has_bars_and_no_barriers(self):
        jobs = [{"id": f"j{j}" if j else EVIL, "duration": 900, "arrival": 60 * j,
                 "tasks": [{"gpus": 4}]} for j in range(12)]
        self.write("j.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        self.assert_ends(self.berth("simulate", "--cluster", "c.yaml", "--jobs", "j.jsonl",
                                    "--policy", "srsf", "--out", "run"), 0)
        self.assert_ends(self.berth("report", "run", "c.yaml", "j.jsonl", "--html", "page.html"), 0)
        for width in [360, 1920]:
            for scheme in ["light", "dark"]:
                self.browser.open(self.folder / "page.html", width, scheme)
                bars = self.browser.driver.find_elements(By.CSS_SELECTOR, "#time g")
                self.assertEqual(len(bars), len(jobs))
                self.assertLessEqual(self.browser.overflow(), 0)
                self.assert_quiet()
                if AXE.exists():
                    self.assertEqual(self.browser.barriers(), [])

    def test_hundred_thousand_machines(self):
        self.write("c.yaml", json.dumps({
            "schema": 1, "classes": {"g": {"gpu_type": "A", "gpus": 8}},
            "pods": [{"id": f"p{p}", "racks": [
                {"id": f"p{p}-r{r}", "machines": [{"ids": f"p{p}-r{r}-m[01-20]", "class": "g"}]}
                for r in range(50)]} for p in range(100)]}))
        path = self.page('{"id": "one", "tasks": [{"count": 3000, "gpus": 8}]}\n')
        self.assertLessEqual(path.stat().st_size, 3_000_000)
        start = time.monotonic()
        self.browser.open(path)
        self.browser.driver.find_element(By.ID, "map-find").send_keys("p99-r49-m20")
        self.assertIn("p99-r49-m20 (rack p99-r49, pod p99), 8 x A", self.state())
        self.assertLess(time.monotonic() - start, 20)
        self.assert_quiet()


if __name__ == "__main__":
    main()

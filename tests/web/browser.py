# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium without a screen and without a network, and what went wrong in it."""
import json
import os
import pathlib
import shutil
import sys

SKIPPED = 77
AXE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"),
                   "berth", "axe-core-4.10.3", "axe.min.js")


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    skip("no python3-selenium")
for program in ["chromium", "chromedriver"]:
    if shutil.which(program) is None:
        skip(f"no {program}")


class Browser:
    """One browser for all tests; `open` shows a file in a size and a colour scheme."""

    FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--force-device-scale-factor=1",
             "--host-resolver-rules=MAP * ~NOTFOUND"]

    def __init__(self):
        options = webdriver.ChromeOptions()
        for flag in self.FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                                       options=options)

    def open(self, path, width=1280, scheme="light", scripts=True):
        command = self.driver.execute_cdp_cmd
        command("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        command("Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        command("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        for log in ["browser", "performance"]:
            self.driver.get_log(log)
        self.driver.get(f"file://{path}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def complaints(self):
        return self.driver.get_log("browser")

    def requests(self):
        """Addresses of all that was asked for since `open`."""
        lines = [json.loads(line["message"])["message"] for line in self.driver.get_log("performance")]
        return [line["params"]["request"]["url"] for line in lines
                if line["method"] == "Network.requestWillBeSent"]

    def overflow(self):
        """Pixels by which the page is wider than the window."""
        return self.run("return document.documentElement.scrollWidth - innerWidth")

    def barriers(self):
        """What axe-core finds serious or critical."""
        self.run(AXE.read_text())
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then(result => done(result.violations))")
        return [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in found
                if v["impact"] in ("serious", "critical")]

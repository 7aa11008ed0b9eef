"""Chromium without a window, driven over plain HTTP: WebDriver as chromedriver speaks it.

Both are taken from the system; nothing is installed and nothing is asked of a network.
"""

import base64
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.helpers.processes import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
MISSING = " and ".join(
    name for name, path in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not path
)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"),
)
JAVASCRIPT_OFF = {"profile.managed_default_content_settings.javascript": 2}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # key of an element, by the standard
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Space": " "}


class Driver:
    """chromedriver as a process of its own; every browser of it ends with it."""

    def __init__(self) -> None:
        assert DRIVER and CHROMIUM, MISSING
        self.home = tempfile.mkdtemp(prefix="memdir-browser-")
        self.process = subprocess.Popen(
            [DRIVER, "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if started := re.search(rb"successfully on port (\d+)", line):
                self.port = int(started[1])
                break
        self.browsers: list[Browser] = []

    def ask(self, method: str, path: str, body: object = None) -> Any:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            text = json.dumps({} if body is None else body) if method == "POST" else None
            line.request(method, path, text, {"Content-Type": "application/json"})
            value = json.loads(line.getresponse().read())["value"]
        finally:
            line.close()
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{method} {path}: {value['error']}: {value['message'][:400]}")
        return value

    def open(self, *, script: bool = True) -> "Browser":
        self.browsers.append(Browser(self, script))
        return self.browsers[-1]

    def close(self) -> None:
        for browser in self.browsers:
            self.ask("DELETE", browser.path)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        shutil.rmtree(self.home, ignore_errors=True)


class Browser:
    """One Chromium with a profile of its own."""

    def __init__(self, driver: Driver, script: bool) -> None:
        self.driver = driver
        profile = tempfile.mkdtemp(dir=driver.home)
        options = {
            "binary": CHROMIUM,
            "args": [*FLAGS, f"--user-data-dir={profile}"],
            "prefs": {} if script else JAVASCRIPT_OFF,
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        begun = driver.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.path = f"/session/{begun['sessionId']}"

    def _post(self, what: str, **body: Any) -> Any:
        return self.driver.ask("POST", f"{self.path}/{what}", body)

    def _get(self, what: str) -> Any:
        return self.driver.ask("GET", f"{self.path}/{what}")

    def go(self, url: str) -> None:
        self._post("url", url=url)

    def back(self) -> None:
        self._post("back")

    @property
    def url(self) -> str:
        return self._get("url")

    def run(self, script: str, *given: Any) -> Any:
        """The value of a script that ends in `return`; works also where the page's own are off."""
        return self._post("execute/sync", script=script, args=given)

    def cdp(self, name: str, **params: Any) -> Any:
        return self._post("goog/cdp/execute", cmd=name, params=params)

    def find(self, css: str) -> str:
        return self._post("element", using="css selector", value=css)[ELEMENT]

    def count(self, css: str) -> int:
        return len(self._post("elements", using="css selector", value=css))

    def text(self, css: str = "body") -> str:
        """As it is seen; nothing if there is no such part."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def click(self, css: str) -> None:
        self._post(f"element/{self.find(css)}/click")

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """Goes on when the page that something leads to is there as a whole."""
        self.run("window.isLeft = true")
        yield
        self.wait(lambda: self.run("return !window.isLeft && document.readyState == 'complete'"))

    def follow(self, css: str) -> None:
        with self.leaving():
            self.click(css)

    def type(self, css: str, text: str) -> None:
        element = self.find(css)
        self._post(f"element/{element}/clear")
        self._post(f"element/{element}/value", text=text)

    def press(self, *keys: str) -> None:
        """Keys one after the other, wherever the focus is."""
        actions = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        board = {"type": "key", "id": "keyboard", "actions": actions}
        self._post("actions", actions=[board])

    def wait(self, is_so: Callable[[], Any]) -> Any:
        end = time.monotonic() + PATIENCE
        while not (value := is_so()):
            assert time.monotonic() < end, f"not within {PATIENCE} s on {self.url}"
            time.sleep(0.02)
        return value

    def tabs(self) -> list[str]:
        return self._get("window/handles")

    def new_tab(self) -> str:
        tab = self._post("window/new", type="tab")["handle"]
        self.use(tab)
        return tab

    def use(self, tab: str) -> None:
        self._post("window", handle=tab)

    def close_tab(self) -> None:
        self.use(self.driver.ask("DELETE", f"{self.path}/window")[0])

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Of the page, not of the window: that one cannot be as narrow as a telephone."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def colours(self, scheme: str) -> None:
        """At once: a colour on its way to another one has a contrast of its own."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        """A PNG of what the window shows."""
        return base64.b64decode(self._get("screenshot"))

    def complaints(self) -> list[str]:
        """What the console was told since it was asked last: errors, refused scripts and loads."""
        logged = self._post("se/log", type="browser")
        return [entry["message"] for entry in logged if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Addresses that pages asked for since this was asked last; also those the CSP refused."""
        logged = [
            json.loads(it["message"])["message"] for it in self._post("se/log", type="performance")
        ]
        sent = [it["params"] for it in logged if it["method"] == "Network.requestWillBeSent"]
        return [it["request"]["url"] for it in sent]

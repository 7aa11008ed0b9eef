"""The page: from the command to the first byte, CPU and size of the first screen, what it weighs.

The CPU is that of the process that serves, read before and after.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import distribution
from urllib.parse import urlsplit

from benchmarks.common import Row, fill, scratch
from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.config.config import read_config
from memdir.format.draft import Draft
from memdir.store.writer import open_app

MEMORIES, DRAFTS = 2_000, 85
RUNS = 5
SCREENS = 20
COMMAND = [sys.executable, "-c", "from memdir.cli.main import main; main()", "ui", "--json"]
FLOOR = [sys.executable, "-c", "import click, jinja2, starlette.applications, uvicorn"]
PACKAGES = ("anyio", "click", "h11", "idna", "jinja2", "markupsafe", "starlette", "uvicorn")
FIRST_BYTE_MS, SCREEN_MS, SCREEN_KB, INSTALL_MB = 600.0, 50.0, 40.0, 10.0


class Served:
    """`memdir ui` in a process of its own."""

    def __init__(self, code: str, env: dict[str, str]) -> None:
        words = [*COMMAND, "--no-open"]
        self.process = subprocess.Popen(words, cwd=code, env=env, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        printed = b""
        while not printed.rstrip().endswith(b"}"):
            printed += self.process.stdout.readline()
        url = urlsplit(json.loads(printed)["url"])
        self.host, self.cookie = url.netloc, ""
        _, headers = self.get(f"/?{url.query}")
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.home = self.get("/")[1]["location"]

    def get(self, path: str) -> tuple[bytes, dict[str, str]]:
        line = http.client.HTTPConnection(self.host, timeout=60)
        line.request("GET", path, headers={"Cookie": self.cookie})
        answer = line.getresponse()
        return answer.read(), {name.lower(): value for name, value in answer.getheaders()}

    def cpu(self) -> float:
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1e3

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def _timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1e3


def measure() -> list[Row]:
    with scratch() as folder:
        home, code = os.path.join(folder, "home"), os.path.join(folder, "code")
        os.makedirs(os.path.join(code, ".git"))
        env = {**os.environ, "HOME": home, "PYTHONPYCACHEPREFIX": os.path.join(folder, "cache")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
        fill(read_config(env, code).store, MEMORIES)
        app = open_app(read_config(env, code), now=time.time, tell=print, actor="cli")
        for number in range(DRAFTS):
            draft = Draft(f"Box {number} is deployed from the quay, never at night.", "project")
            open_inbox(app).hold(Catch(Origin(), draft=draft), "nobody asked for it", app.now())

        def begin() -> None:
            Served(code, env).stop()

        floor = min(_timed(lambda: subprocess.run(FLOOR, check=True)) for _ in range(RUNS))
        before = _children_ms()
        first = min(_timed(begin) for _ in range(RUNS))
        used = (_children_ms() - before) / RUNS
        times = []
        for _ in range(2):  # the second one finds the history and the templates of the first
            served = Served(code, env)
            before = served.cpu()
            page = served.get(served.home)[0]
            times.append(served.cpu() - before)
            if len(times) < 2:
                served.stop()
        try:
            before = served.cpu()
            for _ in range(SCREENS):
                served.get(served.home)
            warm = (served.cpu() - before) / SCREENS
        finally:
            served.stop()
    size = len(gzip.compress(page)) / 1e3
    many = f"{MEMORIES:,} memories, {DRAFTS} drafts wait"
    note = f"and its end; importing the packages alone takes {floor:.0f} ms; CPU {used:.0f} ms"
    return [
        Row("memdir ui to the first byte", 0.0, first, FIRST_BYTE_MS, "ms", True, note),
        Row("first screen, CPU", 0.0, warm, SCREEN_MS, "ms", True, many),
        Row("first screen of a new process", 0.0, times[1], None, "ms", True, "reads every memory"),
        Row("first screen of a new store", 0.0, times[0], None, "ms", True, "begins its history"),
        Row("first screen, compressed", 0.0, size, SCREEN_KB, "kB", True, "gzip"),
        Row(
            "base install",
            0.0,
            _megabytes(),
            INSTALL_MB,
            "MB",
            True,
            f"with {len(PACKAGES)} others",
        ),
    ]


def _children_ms() -> float:
    """CPU of the processes that ended: a busy machine changes it least."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def _megabytes() -> float:
    """Of the packages that come along, without byte code."""
    files = [file.locate() for name in PACKAGES for file in distribution(name).files or ()]
    sizes = [os.stat(path).st_size for path in map(os.fspath, files) if _counts(path)]
    return sum(sizes) / 1e6


def _counts(path: str) -> bool:
    return os.path.isfile(path) and not path.endswith(".pyc")

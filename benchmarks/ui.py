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
from urllib.parse import urlsplit

from benchmarks.common import Row, fill, prompts, scratch
from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.config.config import read_config
from memdir.format.draft import Draft, Wishes
from memdir.hot.run import keep_told
from memdir.recall.answer import recall
from memdir.store.changes import save_memory
from memdir.store.writer import App, open_app, store_state_folder
from memdir.ui.findings import Audits

MEMORIES, DRAFTS, CHANGES = 2_000, 85, 24
PROMPTS, ANSWERS = 20, 600  # more than the log holds
RUNS = 5
SCREENS = 20
COMMAND = [sys.executable, "-c", "from memdir.cli.main import main; main()", "ui", "--json"]
FLOOR = [sys.executable, "-c", "import click, jinja2, starlette.applications, uvicorn"]
FIRST_BYTE_MS, SCREEN_MS, SCREEN_KB, PACKAGES, INSTALL_MB = 600.0, 50.0, 40.0, 10.0, 10.0
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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


def live(app: App) -> None:
    """What a first screen can show at most: changes, drafts, a full log of what was told."""
    app.snapshot()
    for number in range(CHANGES):
        draft = Draft(f"Crate {number} goes to hall {number % 7}.", "project", f"crate-{number}")
        save_memory(app, draft, Wishes(anyway=True))
    for number in range(DRAFTS):
        draft = Draft(f"Box {number} is deployed from the quay, never at night.", "project")
        open_inbox(app).hold(Catch(Origin(), draft=draft), "nobody asked for it", app.now())
    folder = store_state_folder(app.config)
    answers = [(it, recall([("project", app)], it)) for it in prompts(app.store.root, PROMPTS)]
    for number in range(ANSWERS):
        prompt, told = answers[number % PROMPTS]
        given = told.injected.bodies, told.injected.pointers
        keep_told(folder, len(told.text), *given, f"session-{number // 4}", prompt)
    audits = Audits()
    audits.start(app)
    while (job := audits.job(app)) and not job.done:
        time.sleep(0.05)


def measure() -> list[Row]:
    with scratch() as folder:
        home, code = os.path.join(folder, "home"), os.path.join(folder, "code")
        os.makedirs(os.path.join(code, ".git"))
        env = {**os.environ, "HOME": home, "PYTHONPYCACHEPREFIX": os.path.join(folder, "cache")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
        fill(read_config(env, code).store, MEMORIES)
        app = open_app(read_config(env, code), now=time.time, tell=print, actor="cli")
        live(app)

        def begin() -> None:
            Served(code, env).stop()

        floor = min(_timed(lambda: subprocess.run(FLOOR, check=True)) for _ in range(RUNS))
        before = _children_ms()
        first = min(_timed(begin) for _ in range(RUNS))
        used = (_children_ms() - before) / RUNS
        times = []
        for _ in range(2):  # the second one finds the templates of the first
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
        installed = measure_install(folder)
    size = len(gzip.compress(page)) / 1e3
    many = f"{MEMORIES:,} memories, {DRAFTS} drafts, a full log of what was told, a check"
    note = f"and its end; importing the packages alone takes {floor:.0f} ms; CPU {used:.0f} ms"
    return [
        Row("memdir ui to the first byte", 0.0, first, FIRST_BYTE_MS, "ms", True, note),
        Row("first screen, CPU", 0.0, warm, SCREEN_MS, "ms", True, many),
        Row("first screen of a new process", 0.0, times[1], None, "ms", True, "reads every memory"),
        Row(
            "first screen of the first process",
            0.0,
            times[0],
            None,
            "ms",
            True,
            "compiles templates",
        ),
        Row("first screen, compressed", 0.0, size, SCREEN_KB, "kB", True, "gzip"),
        *installed,
    ]


def _children_ms() -> float:
    """CPU of the processes that ended: a busy machine changes it least."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def measure_install(folder: str) -> list[Row]:
    """`pip install` of the tree into an empty environment: packages, and what lies there then."""
    place = os.path.join(folder, "install")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = os.path.join(place, "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", ROOT]
    if subprocess.run(pip, capture_output=True).returncode:
        print("base install: not measured, pip has no packages here")
        return []
    files = [
        os.path.join(at, name)
        for at, _, names in os.walk(os.path.join(place, "lib"))
        for name in names
    ]
    packages = {file for file in files if file.endswith(".dist-info/METADATA")}
    sizes = {file: os.stat(file).st_size / 1e6 for file in files}
    bare = sum(size for file, size in sizes.items() if not file.endswith(".pyc"))
    note = f"{bare:.2f} MB are what is downloaded, the rest is byte code that pip makes of it"
    return [
        Row("base install, packages", 0.0, len(packages), PACKAGES, "", True, "with memdir"),
        Row("base install", 0.0, sum(sizes.values()), INSTALL_MB, "MB", True, note),
    ]

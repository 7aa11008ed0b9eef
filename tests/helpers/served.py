"""`memdir ui` as a process of its own, and a browser without a screen: cookies and forms."""

import html
import http.client
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.helpers.processes import PATIENCE

COMMAND = [sys.executable, "-c", "from memdir.cli.main import main; main()", "ui", "--json"]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def text(self) -> str:
        """What a person reads: without tags."""
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.body)).split())


FIELD = re.compile(
    r"<input\b([^>]*)>|<textarea\b([^>]*)>\n?(.*?)</textarea>|<select\b([^>]*)>(.*?)</select>", re.S
)


def forms(body: str) -> list[tuple[str, dict[str, str]]]:
    """The forms of a page: where each goes, and what its fields hold."""
    found = []
    for form, inside in re.findall(r"<form\b([^>]*)>(.*?)</form>", body, re.S):
        fields = {}
        for given, area, text, select, options in FIELD.findall(inside):
            said = _attributes(given or area or select)
            if area:
                fields[said["name"]] = html.unescape(text)
            elif select:
                for option, shown in re.findall(r"<option\b([^>]*)>([^<]*)", options):
                    if "selected" in _attributes(option):
                        value = _attributes(option).get("value", html.unescape(shown))
                        fields[said["name"]] = value
            elif "name" in said and (said.get("type") != "checkbox" or "checked" in said):
                fields[said["name"]] = said.get("value") or "on" * (said.get("type") == "checkbox")
        found.append((_attributes(form).get("action", ""), fields))
    return found


def _attributes(tag: str) -> dict[str, str]:
    named = re.findall(r"""([\w-]+)(?:=(?:"([^"]*)"|([^\s"/>]+)))?""", tag)
    return {name: html.unescape(quoted or plain) for name, quoted, plain in named}


class Page:
    """A running page; `get` and `send` are what a browser with its cookie does."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--no-open", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        printed = b""
        while not printed.rstrip().endswith(b"}"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read() if self.process.stderr else ""
            printed += line
        self.printed = json.loads(printed)
        self.port: int = self.printed["port"]
        self.token = parse_qs(urlsplit(self.printed["url"]).query)["token"][0]
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = self.base = ""

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def ask(self, method: str, path: str, headers: dict[str, str], body: str = "") -> Answer:
        """Exactly these headers, and a length."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                line.putheader(name, value)
            line.putheader("Content-Length", str(len(body)))
            line.endheaders(body.encode())
            answer = line.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read().decode())
        finally:
            line.close()

    def enter(self) -> "Page":
        answer = self.ask("GET", f"/?token={self.token}", {"Host": self.host})
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.base = self.get("/").headers["location"]
        return self

    @property
    def headers(self) -> dict[str, str]:
        return {"Host": self.host, "Cookie": self.cookie}

    def get(self, path: str = "") -> Answer:
        path = path if path.startswith("/") else self.base + path
        return self.ask("GET", path, self.headers)

    def follow(self, answer: Answer) -> Answer:
        assert answer.status == 303, answer.text
        return self.get(answer.headers["location"].partition("#")[0])

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        sent = {
            **self.headers,
            "Origin": f"http://{self.host}",
            "Content-Type": "application/x-www-form-urlencoded",
            **headers,
        }
        path = path if path.startswith("/") else self.base + path
        return self.ask("POST", path, sent, urlencode(fields))

    def form(self, on: Answer, act: str, **having: str) -> tuple[str, dict[str, str]]:
        """The first form of a page that does this and whose fields hold that."""
        for action, fields in forms(on.body):
            if action.endswith(f"do/{act}") and having.items() <= fields.items():
                return action, fields
        raise AssertionError(f"no form {act} {having} on: {on.text[:500]}")

    def send(self, on: Answer, act: str, /, having: dict[str, str] | None = None, **typed: str):
        """Fills in and sends a form, and goes where it leads."""
        action, fields = self.form(on, act, **(having or {}))
        answer = self.post(action, {**fields, **typed})
        return self.follow(answer) if answer.status == 303 else answer

    def undo(self, banner: Answer) -> Answer:
        return self.send(banner, "undo-notice")


def write_memory(store: Path, name: str, text: str, description: str = "", type: str = "project"):
    store.mkdir(parents=True, exist_ok=True)
    head = f"---\nname: {name}\ndescription: {description or name}\ntype: {type}\n---\n\n"
    (store / f"{name}.md").write_text(head + text + "\n", encoding="utf-8")
    return store / f"{name}.md"


def files_of(folder: Path) -> dict[str, bytes]:
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    return {os.fspath(path.relative_to(folder)): path.read_bytes() for path in names}

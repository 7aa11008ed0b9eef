"""A PostgreSQL of our own: on loopback, as its own user, gone when the tests end."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
from glob import glob
from pathlib import Path

import psycopg

USER = "postgres"
PLACES = [
    f"{place}/bin/initdb"
    for place in ("/usr/lib/postgresql/*", "/usr/pgsql-*", "/opt/homebrew/opt/postgresql@*")
]
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
    "log_statement": "none",
}
QUICK = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}


def programs() -> str:
    """The directory of the newest PostgreSQL >= 15, or empty."""
    found = [os.path.realpath(path) for pattern in PLACES for path in glob(pattern)]
    usable = []
    for program in [*found, os.path.realpath(shutil.which("initdb") or "/none")]:
        if os.path.exists(program):
            said = subprocess.run([program, "-V"], capture_output=True, text=True).stdout
            usable.append((int(re.findall(r"\d+", said)[0]), os.path.dirname(program)))
    version, folder = max(usable, default=(0, ""))
    return folder if version >= 15 else ""


def why_not() -> str:
    """Why PostgreSQL cannot be had here; empty if it can."""
    if not programs():
        return "PostgreSQL 15 or newer is not installed: make server-test installs it"
    if os.getuid() == 0 and USER not in [entry.pw_name for entry in pwd.getpwall()]:
        return f"root may not run PostgreSQL, and there is no user {USER}"
    return ""


class Postgres:
    """`start`, `stop` and `kill` the same data; `durable` keeps fsync on."""

    def __init__(self, *, durable: bool = False) -> None:
        self.bin = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="memdir-pg-", dir="/tmp"))
        self.as_user = {"user": USER, "extra_groups": []} if os.getuid() == 0 else {}
        if self.as_user:
            shutil.chown(self.folder, USER)
        self.data = self.folder / "data"
        self.settings = SETTINGS | ({} if durable else QUICK)
        self.pid = self.made = 0
        self.run(
            "initdb", "-D", self.data, "-U", USER, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"
        )

    def run(self, program: str, *words: object) -> str:
        done = subprocess.run(
            [f"{self.bin}/{program}", *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder), "TZ": "UTC"},
            **self.as_user,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> "Postgres":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = getattr(self, "port", 0) or free.getsockname()[1]
        options = " ".join(f"-c {key}={value}" for key, value in self.settings.items())
        where = ("-D", self.data, "-l", self.folder / "log")
        self.run("pg_ctl", "start", *where, "-o", f"-p {self.port} -k {self.folder} {options}")
        self.pid = int((self.data / "postmaster.pid").read_text().split()[0])
        return self

    def stop(self, how: str = "fast") -> None:
        """`fast` ends it in order, `immediate` like a power cut."""
        if self.pid:
            self.run("pg_ctl", "stop", "-D", self.data, "-m", how)
            self.pid = 0

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, role: str = USER) -> str:
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The name of an empty one."""
        self.made += 1
        name = f"team{self.made}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return name

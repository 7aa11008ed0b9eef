"""Who a project is, on every machine: its origin, else its first commit, else a name once given."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote

from memdir.hot.place import tidy_path
from memdir.store.git import Git, find_git_program

SECONDS = 5.0
# Hosts that answer for another one, on a port that firewalls let through.
ALIASES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_URL = re.compile(
    r"(?:(?:git\+)?(?:ssh|https?|git)(?:\+git)?)://([^/?#]*)([^?#]*)(?:[?#].*)?", re.I
)
_SCP = re.compile(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^@/:\s]+):(?!//|:)(.*)")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def identity_of_address(url: str) -> str:
    """`host/owner/name` of every spelling; "" for a path, which means nothing elsewhere."""
    url = url.strip()
    if match := _URL.fullmatch(url):
        host, path = match[1].rpartition("@")[2], match[2]
        host = re.sub(r":\d*\Z", "", host)
    elif "://" not in url and (match := _SCP.fullmatch(url)):
        host, path = match[1], match[2]
    else:
        return ""
    if "%" in path:
        path = unquote(path)
    host = host.strip("[]").rstrip(".").lower()
    host = ALIASES.get(host, host)
    path = tidy_path("/" + path.strip())
    path = re.sub(r"(?i)\.git\Z", "", path).strip("/")
    if host == "dev.azure.com":
        path = path.removeprefix("v3/").replace("/_git/", "/")
    if len(host) < 2 or not path or any(char < " " for char in path) or path.split("/")[0] == "..":
        return ""
    return f"{host}/{path}"


def find_project_identity(checkout: str) -> str:
    """ "" for a directory without git, or without an origin and a commit."""
    program = find_git_program(os.environ.get("PATH", ""))
    if not program or not os.path.lexists(os.path.join(checkout, ".git")):
        return ""
    git = Git(checkout, program, work_tree=False)
    address = find_origin(checkout)
    if identity := identity_of_address(address):
        return identity
    shallow, _ = git.ask("rev-parse", "--is-shallow-repository", seconds=SECONDS)
    if shallow.strip() != b"false":
        return ""  # its first commit is not here
    out, ended = git.ask("rev-list", "--max-parents=0", "HEAD", seconds=SECONDS)
    roots = sorted(out.decode("ascii", "replace").split()) if ended.whole else []
    return f"commit/{roots[0]}" if roots and _OID.fullmatch(roots[0]) else ""


def find_origin(checkout: str) -> str:
    """The address of `origin`, rewritten as the user's git would; "" without one."""
    program = find_git_program(os.environ.get("PATH", ""))
    if not program:
        return ""
    git = Git(checkout, program, work_tree=False)
    out, ended = git.ask("ls-remote", "--get-url", "origin", seconds=SECONDS)
    address = os.fsdecode(out).strip() if ended.whole else ""
    return "" if address == "origin" else address  # git gives back the name it does not know


def identity_folder(identity: str) -> str:
    """One name of a folder, different for every identity: `github.com+owner+name`."""
    return quote(identity.replace("+", "++").replace("/", "+"), safe="+")

"""Requests the head of a few URLs, never in a private network unless allowed."""

from __future__ import annotations

import http.client
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

MAX_URLS = 50  # per run
WORKERS = 4
TIMEOUT_SECONDS = 5.0  # per URL, including redirects
MAX_REDIRECTS = 5
MAX_URL_CHARACTERS = 2_000
_PORTS = {"http": 80, "https": 443}
_NO_HEAD = (405, 501)  # the server knows only GET
_MOVED = (301, 302, 303, 307, 308)
_UNQUOTED = "%/?:@!$&'()*+,;=~"
_HEADERS = {"User-Agent": "memdir (link check)", "Accept": "*/*", "Connection": "close"}
# Reserved or local ranges that `is_global` of some Python versions lets through.
_RESERVED = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
_GLOBAL = ipaddress.IPv6Network("2000::/3")  # all assigned addresses


@dataclass(frozen=True)
class Reply:
    """HTTP status, or 0 and the reason why there is none."""

    status: int = 0
    reason: str = ""
    refused: bool = False  # we refused to request it


class _Refused(Exception):
    """The URL must not be requested."""


def check_claimed_urls(
    urls: Sequence[str], *, private: bool = False, seconds: float = TIMEOUT_SECONDS
) -> dict[str, Reply]:
    """Requests a few URLs at a time, and no more than MAX_URLS."""
    asked = list(dict.fromkeys(urls))[:MAX_URLS]
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    replies: queue.SimpleQueue[tuple[str, Reply]] = queue.SimpleQueue()
    for url in asked:
        waiting.put(url)

    def work() -> None:
        while True:
            try:
                url = waiting.get_nowait()
            except queue.Empty:
                return
            replies.put((url, _ask(url, private, seconds)))

    # Daemon threads: a silent name server must not keep the program alive.
    for _ in range(min(WORKERS, len(asked))):
        threading.Thread(target=work, daemon=True).start()
    answers = dict.fromkeys(asked, Reply(reason="no answer in time"))
    end = time.monotonic() + (seconds + 1) * (len(asked) // WORKERS + 1)
    for _ in asked:
        try:
            url, reply = replies.get(timeout=max(end - time.monotonic(), 0.01))
        except queue.Empty:
            break
        answers[url] = reply
    return answers


def _ask(url: str, private: bool, seconds: float) -> Reply:
    end = time.monotonic() + seconds
    method = "HEAD"
    try:
        for _ in range(MAX_REDIRECTS + 1):
            status, place = _request(url, method, private, end)
            if status in _NO_HEAD and method == "HEAD":
                method = "GET"
            elif status in _MOVED and place:
                url = urljoin(url, place)
            else:
                return Reply(status)
        return Reply(reason="it leads from one address to the next")
    except _Refused as refused:
        return Reply(reason=str(refused), refused=True)
    except TimeoutError:
        return Reply(reason="no answer in time")
    except ssl.SSLError as error:
        return Reply(reason=f"its certificate does not hold ({error.reason or 'TLS'})")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Reply(reason=f"no answer ({getattr(error, 'strerror', '') or type(error).__name__})")


def _request(url: str, method: str, private: bool, end: float) -> tuple[int, str]:
    """Connects only to an address that was checked; returns the status and the redirect target."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or len(url) > MAX_URL_CHARACTERS:
        raise _Refused("not an address of the web")
    if parts.username or parts.password:
        raise _Refused("it carries a password, which is sent to nobody")
    port = parts.port or _PORTS[parts.scheme]
    connection = _connect(parts.hostname, port, private, _seconds_left(end))
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = context.wrap_socket(connection, server_hostname=parts.hostname)
        connection.settimeout(_seconds_left(end))
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = http.client.HTTPConnection(parts.hostname, port, timeout=_seconds_left(end))
        asked.sock = connection
        headers = {**_HEADERS, "Host": parts.netloc}
        asked.request(method, quote(path, safe=_UNQUOTED), headers=headers)
        answer = asked.getresponse()
        return answer.status, answer.getheader("Location") or ""
    finally:
        connection.close()


def _seconds_left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect(host: str, port: int, private: bool, seconds: float) -> socket.socket:
    """Checks each address of the host first: a name can lead into a private network."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    allowed = [entry for entry in addresses if private or is_public_address(str(entry[4][0]))]
    if not allowed:
        raise _Refused("it leads into a private network; not asked")
    error: OSError = OSError("no address")
    for family, kind, protocol, _, address in allowed[:2]:
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(seconds / 2)
        try:
            connection.connect(address)
            return connection
        except OSError as failed:
            connection.close()
            error = failed
    raise error


def is_public_address(address: str) -> bool:
    """True for a global address; one that wraps an IPv4 address in IPv6 is none."""
    known = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address) and (
        known not in _GLOBAL or known.sixtofour is not None or known.teredo is not None
    ):
        return False
    reserved = any(known.version == net.version and known in net for net in _RESERVED)
    return known.is_global and not known.is_multicast and not reserved

"""Asks addresses of the web whether they still answer. A memory is untrusted: what it names is
asked for its head only, never inside the user's own network, and never more than a few.
"""

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

MOST = 50  # addresses of one run
AT_ONCE = 4
SECONDS = 5.0  # for one address, redirects and all
REDIRECTS = 5
LONGEST = 2_000  # characters of an address
_PORTS = {"http": 80, "https": 443}
_NO_HEAD = (405, 501)  # the server knows only GET
_MOVED = (301, 302, 303, 307, 308)
_AS_THEY_ARE = "%/?:@!$&'()*+,;=~"
_AGENT = "memdir (link check)"
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What `is_global` of some Pythons lets through: reserved, or the way into one's own network.
_RESERVED = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24")))
_GLOBAL = ipaddress.IPv6Network("2000::/3")  # all that is given out
_NOT_GIVEN = ipaddress.IPv6Network("3fff::/20")  # but for examples


@dataclass(frozen=True)
class Reply:
    """The status that an address answers with; 0 and the reason where it does not, or may not."""

    status: int = 0
    reason: str = ""
    refused: bool = False  # by us: it is not asked


class _Refused(Exception):
    """An address that is not asked."""


def check_urls(
    urls: Sequence[str], *, private: bool = False, seconds: float = SECONDS
) -> dict[str, Reply]:
    """Every address with its reply, a few at a time; beyond the first fifty none is asked."""
    asked = list(dict.fromkeys(urls))[:MOST]
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

    # Daemons: a name server that keeps silent must not keep the program alive.
    for _ in range(min(AT_ONCE, len(asked))):
        threading.Thread(target=work, daemon=True).start()
    found = dict.fromkeys(asked, Reply(reason="no answer in time"))
    end = time.monotonic() + (seconds + 1) * (len(asked) // AT_ONCE + 1)
    for _ in asked:
        try:
            url, reply = replies.get(timeout=max(end - time.monotonic(), 0.01))
        except queue.Empty:
            break
        found[url] = reply
    return found


def _ask(url: str, private: bool, seconds: float) -> Reply:
    end = time.monotonic() + seconds
    method = "HEAD"
    try:
        for _ in range(REDIRECTS + 1):
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
    """One request to the very address that was found fit; its status, and where it leads."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or len(url) > LONGEST:
        raise _Refused("not an address of the web")
    if parts.username or parts.password:
        raise _Refused("it carries a password, which is sent to nobody")
    port = parts.port or _PORTS[parts.scheme]
    left = _left(end)
    connection = _connect(parts.hostname, port, private, left)
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = context.wrap_socket(connection, server_hostname=parts.hostname)
        connection.settimeout(_left(end))
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = http.client.HTTPConnection(parts.hostname, port, timeout=_left(end))
        asked.sock = connection
        asked.request(method, quote(path, safe=_AS_THEY_ARE), headers=_headers(parts.netloc))
        answer = asked.getresponse()
        return answer.status, answer.getheader("Location") or ""
    finally:
        connection.close()


def _headers(host: str) -> dict[str, str]:
    return {"Host": host, "User-Agent": _AGENT, "Accept": "*/*", "Connection": "close"}


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect(host: str, port: int, private: bool, seconds: float) -> socket.socket:
    """A connection to an address of the host, each looked at first: names can lead inside."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    fit = [one for one in found if private or _is_public(str(one[4][0]))]
    if not fit:
        raise _Refused("it leads into a private network; not asked")
    error: OSError = OSError("no address")
    for family, kind, protocol, _, address in fit[:2]:
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(seconds / 2)
        try:
            connection.connect(address)
            return connection
        except OSError as failed:
            connection.close()
            error = failed
    raise error


def _is_public(address: str) -> bool:
    """Global, and not a private one in the coat of IPv6."""
    known = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address):
        inner = known.ipv4_mapped or known.sixtofour
        if inner is None and known in _NAT64:
            inner = ipaddress.IPv4Address(int(known) & 0xFFFFFFFF)
        if known.teredo is not None or (inner is not None and not _is_public(str(inner))):
            return False
        if known not in _NAT64 and (known not in _GLOBAL or known in _NOT_GIVEN):
            return False
    elif any(known in network for network in _RESERVED):
        return False
    return known.is_global and not known.is_multicast

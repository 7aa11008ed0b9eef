"""The HTTP client that a package of an API gets from us: one answer of limited size from one place.

Made from the class that the package brings along, so whatever HTTP library it uses is ours too.
"""

from __future__ import annotations

from typing import Any

LARGEST_BYTES = 1024 * 1024  # of an answer; one of 100,000 tokens has half of it
PLAIN = "identity"


class Unfit(ValueError):
    """An answer that is not read; its text is ours."""


def plain_client(default: type[Any]) -> Any:
    """A client that follows nobody elsewhere and reads no more than `LARGEST_BYTES`."""

    class Plain(default):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            options |= {"stream": True, "follow_redirects": False}
            response = await super().send(request, **options)
            try:
                body = await _body(response)
            finally:
                await response.aclose()
            made = type(response)(
                response.status_code, headers=response.headers, content=body, request=request
            )
            made.elapsed = response.elapsed
            return made

    # A packed answer could unfold to any size at once.
    return Plain(headers={"accept-encoding": PLAIN})


async def _body(response: Any) -> bytes:
    if 300 <= response.status_code < 400:
        raise Unfit("the server sends us to another address, which is not followed")
    if response.headers.get("content-encoding", PLAIN).lower() != PLAIN:
        raise Unfit("the answer is packed, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > LARGEST_BYTES:
            raise Unfit(f"the answer is longer than {LARGEST_BYTES:,} bytes")
    return bytes(body)

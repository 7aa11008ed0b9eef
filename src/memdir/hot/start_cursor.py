"""The file Cursor runs: `python -I -S start_cursor.py EVENT`; converts to and from start.py.

Cursor passes workspace folders instead of a directory, and reads `additional_context`.
"""

import io
import os
import sys

MAX_PAYLOAD_BYTES = 16 * 1024 * 1024


def read_cursor_hook(data: bytes, environ: "os._Environ[str]") -> bytes:
    """Cursor's payload in our form, without a transcript: its format is unknown."""
    import json

    payload = json.loads(data)
    folders = [*(payload.get("workspace_roots") or []), environ.get("CURSOR_PROJECT_DIR", "")]
    fields = {
        "session_id": payload.get("session_id") or payload.get("conversation_id") or "",
        "cwd": next((it for it in folders if isinstance(it, str) and it[:1] == "/"), ""),
        "prompt": payload.get("prompt") or "",
        "source": "startup",
    }
    return json.dumps(fields).encode()


def write_cursor_hook_answer(data: bytes) -> bytes:
    import json

    if not data.strip():
        return b""
    text = json.loads(data).get("hookSpecificOutput", {}).get("additionalContext", "")
    return json.dumps({"additional_context": text}).encode() + b"\n" if text else b""


if __name__ == "__main__":
    try:
        root = os.path.realpath(__file__).rsplit("/", 3)[0]
        sys.path[:] = [sys.path[-1], root, *sys.path[:-1]]
        from memdir.hot.run import main

        out, answer = sys.stdout.buffer, io.BytesIO()
        sys.stdin = io.TextIOWrapper(
            io.BytesIO(read_cursor_hook(sys.stdin.buffer.read(MAX_PAYLOAD_BYTES), os.environ))
        )
        sys.stdout = io.TextIOWrapper(answer)
        main(sys.argv[1:])
        out.write(write_cursor_hook_answer(answer.getvalue()))
        out.flush()
    except BaseException:  # a broken hook must not break the session
        pass
    os._exit(0)

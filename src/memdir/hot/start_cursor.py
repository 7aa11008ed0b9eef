"""The file Cursor runs: `python -I -S start_cursor.py EVENT`, start.py in Cursor's form.

Cursor names folders of a workspace instead of a directory, and reads `additional_context`.
"""

import io
import os
import sys

MOST_BYTES = 16 * 1024 * 1024  # of what it hands over


def given(data: bytes, environ: "os._Environ[str]") -> bytes:
    """What Cursor says, as our hooks read it; no conversation, since nobody can read its own."""
    import json

    said = json.loads(data)
    folders = [*(said.get("workspace_roots") or []), environ.get("CURSOR_PROJECT_DIR", "")]
    fields = {
        "session_id": said.get("session_id") or said.get("conversation_id") or "",
        "cwd": next((one for one in folders if isinstance(one, str) and one[:1] == "/"), ""),
        "prompt": said.get("prompt") or "",
        "source": "startup",
    }
    return json.dumps(fields).encode()


def answered(data: bytes) -> bytes:
    """What our hooks say, as Cursor reads it; nothing where that is nothing."""
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

        out, heard = sys.stdout.buffer, io.BytesIO()
        sys.stdin = io.TextIOWrapper(
            io.BytesIO(given(sys.stdin.buffer.read(MOST_BYTES), os.environ))
        )
        sys.stdout = io.TextIOWrapper(heard)
        main(sys.argv[1:])
        out.write(answered(heard.getvalue()))
        out.flush()
    except BaseException:  # whatever is broken in here, the session is not
        pass
    os._exit(0)

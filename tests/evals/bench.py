"""Run a bench as `python -m evals` does."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from evals.__main__ import main


def figures(bench: str, data: Path) -> dict[str, Any]:
    out = StringIO()
    with redirect_stdout(out):
        assert main([bench, "--data", str(data), "--json"]) == 0
    return json.loads(out.getvalue())


def complaint(bench: str, data: Path) -> str:
    err = StringIO()
    with redirect_stderr(err):
        assert main([bench, "--data", str(data)]) == 1
    return err.getvalue()

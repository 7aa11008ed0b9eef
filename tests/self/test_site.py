"""`make docs`: the documents as a website, with every link checked and nothing fetched."""

import re
import subprocess
import sys

import pytest

from tests.self.source import ROOT

SITE = ROOT / "build/site"


@pytest.mark.slow
def test_the_site_is_built_with_every_link_and_needs_no_network():
    words = [sys.executable, "docs/site.py"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    pages = [*SITE.rglob("*.html")]
    for name in ("index", "docs/tutorial", "docs/guides/agents", "docs/reference/commands"):
        assert SITE / f"{name}.html" in pages
    loaded = [
        re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?://[^">\s]+)', p.read_text())
        for p in pages
    ]
    assert [address for found in loaded for address in found] == []

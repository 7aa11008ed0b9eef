"""What is not saved (M4): forms that git, the code or the session already hold."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memdir.format.exclusions import why_not
from tests.helpers.tables import cases

DIFF = """diff --git a/x.py b/x.py
index 1234567..89abcde 100644
--- a/x.py
+++ b/x.py
@@ -1,3 +1,3 @@
 def f():
-    return 1
+    return 2
"""
LOG = """a1b2c3d fix: do not crash on an empty header
9f8e7d6 feat: add undo
0c1d2e3 chore: bump dependencies
"""
LONG_LOG = "".join(
    f"commit {digit * 40}\nAuthor: A <a@b.test>\nDate:   Mon Mar 2 10:00:00 2026\n\n"
    f"    step {digit}\n\n"
    for digit in "123"
)
PULLS = """Merged this month:
- #101 Add login
- #102 Fix logout
- #105 Bump dependencies
- #107 Rename module
"""
PYTHON_TRACE = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
    main()
  File "b.py", line 9, in main
    raise ValueError("x")
ValueError: x
"""
NODE_TRACE = """TypeError: Cannot read properties of undefined (reading 'x')
    at Object.<anonymous> (/app/index.js:10:15)
    at Module._compile (node:internal/modules/cjs/loader:1105:14)
"""
JAVA_TRACE = """Exception in thread "main" java.lang.NullPointerException
    at com.example.App.run(App.java:14)
    at com.example.App.main(App.java:9)
Caused by: java.io.IOException: gone
"""
CODE = """def f(x):
    y = x + 1
    print(y)
    return y
"""
TREE = """src/
├── a
│   └── b.py
├── c.py
└── d.py"""
PATHS = "src/a/b.py\nsrc/a/c.py\nsrc/d.py\ntests/x.py\nREADME.md"


CLAUDE_MD = """# Rules
- Use pnpm, never npm.
- Tests run against a real database.
- Always run the linter before every single commit, then push.
- Never use tabs in all of the Makefiles.
"""


@cases("kind", "text")
def test_what_lives_elsewhere_is_sent_there_with_a_question(kind, text):
    reason = why_not(text)
    assert reason is not None
    assert reason.startswith(f"This looks like {kind}")
    assert "already lives in" in reason
    assert reason.endswith("?")
    assert "\n" not in reason


@cases("text")
def test_what_is_worth_keeping_passes(text):
    assert why_not(text) is None


@cases("text")
def test_what_claude_md_says_is_not_saved_again(text):
    reason = why_not(text, CLAUDE_MD)
    assert reason is not None
    assert "CLAUDE.md" in reason
    assert why_not(text) is None


@cases("text")
def test_what_claude_md_does_not_say_passes(text):
    assert why_not(text, CLAUDE_MD) is None


def test_real_memories_are_seldom_refused(shared, record_property):
    files = [
        path
        for path in shared.glob("corpus/*/**/*.md")
        if path.name not in ("MEMORY.md", "README.md")
    ]
    bodies = [
        re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for path in files
    ]
    refused = [path for path, body in zip(files, bodies, strict=True) if why_not(body)]
    record_property("exclusions fired", f"{len(refused)}/{len(files)}")
    assert len(files) == 340
    assert len(refused) <= 0.02 * len(files), refused


@given(st.text(), st.text())
def test_any_text_is_taken(text, claude_md):
    reason = why_not(text, claude_md)
    assert reason is None or reason.endswith("?")

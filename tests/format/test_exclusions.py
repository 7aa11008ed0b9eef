"""What is not saved (M4): forms that git, the code or the session already hold."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.exclusions import why_not

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

EXCLUDED = [
    ("a diff", DIFF),
    ("a diff", f"Here is the change:\n```diff\n{DIFF}```"),
    ("a git log", LOG),
    ("a git log", LONG_LOG),
    ("a git log", "\n".join(f"- `{line}`" for line in LOG.splitlines())),
    ("a list of pull requests", PULLS),
    ("a list of pull requests", "Add login (#101)\nFix logout (#102)\nBump (#103)"),
    ("a stack trace", PYTHON_TRACE),
    ("a stack trace", f"It crashed:\n\n```\n{NODE_TRACE}```"),
    ("a stack trace", JAVA_TRACE),
    ("code", CODE),
    ("code", f"The helper:\n```python\n{CODE}```"),
    ("code", "```ts\nexport const a = 1;\nfunction f() {\n  return a;\n}\n```"),
    ("a file listing", TREE),
    ("a file listing", f"Layout:\n```\n{TREE}\n```"),
    ("a file listing", PATHS),
    ("a file listing", "\n".join(f"- `{line}`" for line in PATHS.splitlines())),
    ("a file listing", "-rw-r--r-- 1 a a 1 x\n" * 3),
    ("the record of a fix", "Fixed the crash in parser.py by adding a check before the split."),
    ("the record of a fix", "**Bug fix:** resolved the timeout by increasing the limit to 30."),
    ("the state of the running task", "I'm currently working on the header parser."),
    ("the state of the running task", "WIP: step 3 of 5"),
    ("the state of the running task", "We are now on step 2 of 4."),
    ("the state of the running task", "# TODO for this session\n- tests\n- docs"),
    ("the state of the running task", "Current task: port the reader"),
    ("the state of the running task", "Currently working on the header parser."),
    ("the state of the running task", "Today I am fixing the login page."),
    ("the state of the running task", "Right now we're debugging the queue."),
    ("the state of the running task", "This morning I'll be reviewing the migration."),
    ("the state of the running task", "Still investigating the slow query."),
    ("the state of the running task", "In the middle of refactoring the store."),
    ("the state of the running task", "I'm working on the exporter today."),
]

SAVED = [
    "",
    "   \n",
    "Use pnpm, never npm.",
    "Merge freeze after 2026-03-05, mobile release.",
    # A reason makes the difference.
    f"Handlers look like this, because reviewers asked for it:\n```python\n{CODE}```",
    "I'm currently working on the move to Postgres, because legal wants the data in the EU.",
    "Fixed the flaky test by adding a retry. Never do that again: the root cause was the clock.",
    "- #71: never close before the smoke run\n- #72: we decided against it\n- #80: always rebase",
    f"This crashes on startup, and it turns out to be the proxy:\n```\n{NODE_TRACE}```",
    # Commands may stand nowhere else.
    "Deploy:\n```bash\nmake build\nmake push\nssh prod systemctl restart app\ncurl -f prod\n```",
    # Lists of places outside.
    "owner/repo\nowner/other\nowner/third\nowner/fourth\nowner/fifth",
    "a.internal.test\nb.internal.test\nc.internal.test\nd.internal.test\ne.internal.test",
    "- commit messages in English\n- one change for each commit\n- no merge commits",
    "- `deadbee` broke the build for a whole day since nobody watched the nightly run of the suite",
    "The wip branch is for demos only.",
    # What goes on for longer is worth knowing.
    "Currently working on the move to Postgres, due 2026-06-01.",
    "We are fixing the login page until the release.",
    "I am working on the payments team.",
    "Today the service runs on Python 3.11.",
    "Currently the API has no rate limit.",
    "Still running on the old cluster in Frankfurt.",
    "The parser is in the middle of the pipeline.",
]

CLAUDE_MD = """# Rules
- Use pnpm, never npm.
- Tests run against a real database.
- Always run the linter before every single commit, then push.
- Never use tabs in all of the Makefiles.
"""
SAID = [
    "Use pnpm, never npm.",
    "use **pnpm**, never npm",
    "Remember that tests run against a real database!",
    "Run the linter before every single commit.",
    "Use pnpm, never npm. Tests run against a real database.",
]
NOT_SAID = [
    "Use tabs in all of the Makefiles.",  # the opposite
    "Use pnpm, never npm.\n\n**Why:** the lock file is checked by CI.",
    "Use pnpm.",
    "Tests run against a real database from 2024.",
    "Rules",
]


@pytest.mark.parametrize(("kind", "text"), EXCLUDED)
def test_what_lives_elsewhere_is_sent_there_with_a_question(kind, text):
    reason = why_not(text)
    assert reason is not None
    assert reason.startswith(f"This looks like {kind}")
    assert "already lives in" in reason
    assert reason.endswith("?")
    assert "\n" not in reason


@pytest.mark.parametrize("text", SAVED)
def test_what_is_worth_keeping_passes(text):
    assert why_not(text) is None


@pytest.mark.parametrize("text", SAID)
def test_what_claude_md_says_is_not_saved_again(text):
    reason = why_not(text, CLAUDE_MD)
    assert reason is not None
    assert "CLAUDE.md" in reason
    assert why_not(text) is None


@pytest.mark.parametrize("text", NOT_SAID)
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

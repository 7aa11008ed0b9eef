"""Small enough to read at once. There is no list of exceptions: split the module instead."""

import ast
from pathlib import Path

from tests.self.source import PACKAGE, ROOT, functions, modules, parse

MODULE_LINES = 300
FUNCTION_LINES = 40
TEST_MODULE_LINES = 500


def too_long(folder: Path, limit: int) -> list[str]:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(folder)}
    return [
        f"{path.relative_to(folder)}: {lines} lines, at most {limit}"
        for path, lines in sizes.items()
        if lines > limit
    ]


def long_functions(tree: ast.AST, where: str) -> list[str]:
    return [
        f"{where}:{node.lineno} {node.name}: {lines} lines, at most {FUNCTION_LINES}"
        for node in functions(tree)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]


def test_no_module_is_longer_than_a_few_screens():
    assert too_long(PACKAGE, MODULE_LINES) == []


def test_no_test_module_is_too_long():
    assert too_long(ROOT / "tests", TEST_MODULE_LINES) == []


def test_no_function_is_longer_than_a_screen():
    found = [line for path in modules(PACKAGE) for line in long_functions(parse(path), path.name)]
    assert found == []


def test_the_checks_find_what_is_too_long(tmp_path):
    (tmp_path / "big.py").write_text("x = 1\n" * (MODULE_LINES + 1))
    assert too_long(tmp_path, MODULE_LINES) == ["big.py: 301 lines, at most 300"]

    fits = "@decorator\ndef f():\n" + "    pass\n" * (FUNCTION_LINES - 1)
    assert long_functions(ast.parse(fits), "x.py") == []
    assert long_functions(ast.parse(fits + "    pass\n"), "x.py") == [
        "x.py:2 f: 41 lines, at most 40"
    ]

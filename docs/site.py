"""Builds the documents as a website into build/site: `make docs`.

The documents are written for a forge, so their links lead all over the repository. What they link
is laid out below build/pages as it lies here, and every link and anchor is checked. The order of
the pages is that of docs/README.md. Neither the build nor the site fetches anything.
"""

import logging
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parent.parent
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"
CONTENTS = "docs/README.md"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([\w./-]+)(?:#[\w-]+)?\)")
BESIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")


def find_linked_files(page: Path) -> list[Path]:
    """Files of the repository that a page links and that are no Markdown."""
    linked = [page.parent / target for _, target in LINK.findall(page.read_text("utf-8"))]
    return [path.resolve() for path in linked if path.is_file() and path.suffix != ".md"]


def lay_out_pages() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs", ignore=shutil.ignore_patterns("*.py"))
    shutil.copytree(ROOT / "examples", PAGES / "examples", ignore=shutil.ignore_patterns("*.pyc"))
    for name in BESIDE:
        shutil.copy(ROOT / name, PAGES / name)
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for path in find_linked_files(page):
            target = PAGES / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def read_contents() -> list[object]:
    """The navigation: a part for each heading of the contents, a page for each link below it."""
    parts: list[object] = [{"memdir": "README.md"}]
    text = (ROOT / CONTENTS).read_text("utf-8")
    for part in re.split(r"^## ", text, flags=re.MULTILINE):
        title = part.partition("\n")[0]
        pages = [
            {" ".join(name.split()).capitalize(): f"docs/{target}"}
            for name, target in LINK.findall(part)
        ]
        parts += pages if title.startswith("# ") else [{title: pages}]
    return [*parts, {"Changes": "CHANGELOG.md"}, {"Contributing": "CONTRIBUTING.md"}]


def configure() -> dict[str, object]:
    slug: Callable[..., str] = slugify(case="lower")  # as a forge names its headings
    return {
        "site_name": "memdir",
        "site_url": "",
        "docs_dir": str(PAGES),
        "site_dir": str(SITE),
        "use_directory_urls": False,
        "strict": True,
        "nav": read_contents(),
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.sections", "content.code.copy", "search.highlight"],
            "palette": [
                {"media": f"(prefers-color-scheme: {name})", "scheme": scheme, "primary": "teal"}
                for name, scheme in (("light", "default"), ("dark", "slate"))
            ],
        },
        "plugins": ["search"],
        "extra": {"generator": False},
        "not_in_nav": "/docs/README.md\n/docs/decisions/*\n",
        "markdown_extensions": [
            {"toc": {"slugify": slug, "permalink": True}},
            *("tables", "attr_list", "pymdownx.superfences", "pymdownx.highlight"),
            "pymdownx.saneheaders",
        ],
        "validation": {
            "nav": {"omitted_files": "warn", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
    }


def main() -> int:
    lay_out_pages()
    config = MkDocsConfig(config_file_path=__file__)
    config.load_dict(configure())
    errors, warnings = config.validate()
    if errors or warnings:
        sys.exit("\n".join(f"{name}: {text}" for name, text in [*errors, *warnings]))
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        build(config)
    except Abort as wrong:
        print(wrong, file=sys.stderr)
        return 1
    print(f"built {len([*SITE.rglob('*.html')])} pages in {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

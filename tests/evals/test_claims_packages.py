"""`python -m evals claims --set packages`: releases as commits, or said not to be run."""

import io
import tarfile
from pathlib import Path

from evals.claims_packages import judge_package, write_sentences
from evals.package_histories import make_package_history

KEPT = "def keep_it(order):\n    return order\n"
OLD = {
    "setup.py": 'setup(name="tiny", install_requires=["requests>=2", "simplejson"])\n',
    "tiny/core.py": KEPT + "class GoneThing:\n    pass\n",
    "tiny/dropped.py": 'parser.add_argument("--old-way")\n' * 3,
    "PKG-INFO": "GoneThing",
}
NEW = {
    "setup.py": 'setup(name="tiny", install_requires=["requests>=2"])\n',
    "tiny/core.py": KEPT,
    "tiny.egg-info/SOURCES.txt": "tiny/dropped.py",
}


def pack(sdists: Path, version: str, files: dict[str, str]) -> None:
    folder = sdists / f"tiny-{version}"
    folder.mkdir(parents=True)
    with tarfile.open(folder / f"tiny-{version}.tar.gz", "w:gz") as tar:
        for path, text in {**files, "../outside.py": "x"}.items():
            member = tarfile.TarInfo(f"tiny-{version}/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))


def test_what_is_gone_follows_from_the_trees_and_is_found(tmp_path):
    pack(tmp_path / "sdists", "1", OLD)
    pack(tmp_path / "sdists", "2", NEW)
    history = make_package_history("tiny", "1 2", tmp_path)
    assert sorted(history.last) == ["setup.py", "tiny/core.py"]
    gone = {each.named for each in write_sentences(history) if each.gone}
    assert gone == {"tiny/dropped.py", "dropped.py", "GoneThing", "--old-way", "simplejson"}
    answers = judge_package(history, str(tmp_path / "index"))
    assert {each.sentence.named for each in answers if each.verdict == "stale"} == gone
    assert [each for each in answers if (each.verdict == "stale") != each.sentence.gone] == []

"""Decisions are listed in their order, and name files that exist."""

import re
from pathlib import Path

import pytest

import commonplace

ROOT = Path(__file__).parents[2]
SOURCE = Path(commonplace.__file__).parent
FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("0*.md"))
LISTED = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", (FOLDER / "README.md").read_text(), re.M)
IS_PATH = re.compile(r"\w[\w.-]*/[\w./-]*|\w+\.(?:py|toml|sql|txt)")
FILES = {path.name for base in (SOURCE, ROOT / "tools") for path in base.rglob("*.*")}


def test_decisions_are_listed_by_number_and_title():
    assert [name for _, _, name in LISTED] == [path.name for path in PAGES]
    for number, title, name in LISTED:
        heading = (FOLDER / name).read_text(encoding="utf-8").partition("\n")[0]
        assert re.sub(r"^# (\d+\. )?", "", heading) == title
        assert int(name[:4]) == int(number)


def test_decisions_list_names_unused_numbers():
    numbers = {int(number) for number, _, _ in LISTED}
    unused = sorted(set(range(1, max(numbers))) - numbers)
    told = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [int(each) for each in re.findall(r"Number (\d+) was never used", told)] == unused


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_decisions_name_existing_files(page):
    """A bare name is that of some file; a path starts at the package or at the checkout."""
    for word in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")):
        if IS_PATH.fullmatch(word):
            is_there = (SOURCE / word).exists() or (ROOT / word).exists()
            assert is_there or ("/" not in word and word in FILES), word

"""What the contributing page names is there: paths, names in their files, modules, make targets."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import commonplace

ROOT = Path(__file__).parents[2]
SOURCE = Path(commonplace.__file__).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`]+)`")
IS_PATH = re.compile(r"[\w.-]*/[\w./-]*|[\w-]+\.(?:py|md|toml|sql|json)")
IS_NAME = re.compile(r"_?[A-Za-z]\w*(?:\(\))?")
# Words in backticks that name nothing of ours: a parameter, a branch, part of a statement.
OTHERS = {
    "kind",
    "format",
    "main",
    ".sql",
    "-- name:",
    "scope = :scope",
    "NNNN_name.sql",
    "area: imperative, at most 72 characters",
}
MOVE = "641a617"  # the commit that moved all modules
COMMITS = {MOVE, f"{MOVE}~1", f"git merge {MOVE}~1"}


def blocks():
    """Paragraphs, list items and table rows, each with what it puts in backticks, in order."""
    for line in PAGE.splitlines():
        if found := QUOTED.findall(line):
            yield found


def found_at(path):
    return next((base / path for base in (ROOT, SOURCE) if (base / path).exists()), None)


def defined_in(file):
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def is_path(word):
    return word not in OTHERS and IS_PATH.fullmatch(word) is not None


def names_with_their_files():
    """A name belongs to the file that is named next after it."""
    for words in blocks():
        for place, word in enumerate(words):
            if word not in OTHERS | COMMITS and IS_NAME.fullmatch(word) and not is_path(word):
                yield word, next(filter(is_path, words[place + 1 :]), None)


WORDS = [word for words in blocks() for word in words]
PATHS = sorted({word for word in WORDS if is_path(word)})
NAMES = sorted(set(names_with_their_files()), key=str)
TARGETS = sorted({target for word in WORDS for target in re.findall(r"^make (\w+)", word)})
MODULES = sorted({name for word in WORDS for name in re.findall(r"python -m ([\w.]+)", word)})
REST = sorted(
    set(WORDS)
    - OTHERS
    - COMMITS
    - set(PATHS)
    - {name for name, _ in NAMES}
    - {"make " + t for t in TARGETS}
)


@pytest.mark.parametrize("path", PATHS)
def test_contributing_page_paths_exist(path):
    assert found_at(path), path


@pytest.mark.parametrize(("name", "path"), NAMES)
def test_contributing_page_names_are_defined_in_the_named_file(name, path):
    assert path, f"`{name}` needs the file that it is in"
    assert name in defined_in(found_at(path)), f"{name} is not in {path}"


@pytest.mark.parametrize("target", TARGETS)
def test_contributing_page_make_targets_exist(target):
    assert re.search(rf"^{target}:", MAKEFILE, re.M)


def test_contributing_page_names_every_make_target():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M)
    assert set(phony.split()) == {*TARGETS, "clean"}


@pytest.mark.parametrize("module", MODULES)
def test_contributing_page_modules_exist(module):
    assert find_spec(module)


@pytest.mark.parametrize("command", REST)
def test_contributing_page_commands_name_existing_files(command):
    program, *arguments = command.split()
    assert program in ("git", "python", ".venv/bin/python"), command
    for path in filter(is_path, arguments):
        assert found_at(path), path


def test_blame_ignores_the_commit_that_moved_all_modules():
    ignored = (ROOT / ".git-blame-ignore-revs").read_text().split("\n")
    assert any(line.startswith(MOVE) for line in ignored)

"""The architecture page has every folder and module of the package, and no other file."""

import ast
import re
from pathlib import Path

import pytest

import commonplace
from architecture.test_import_rules import DIRECTION, FOLDERS

SOURCE = Path(commonplace.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
FLOWS, _, TREE = PAGE.partition("\n# Folders\n")
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", TREE, re.M | re.S))
NAMED = {
    heading: [
        name
        for files in re.findall(r"^- (`[^:]+`): ", body, re.M)
        for name in re.findall(r"`([^`]+)`", files)
    ]
    for heading, body in SECTIONS.items()
}


def folder_of(heading):
    return SOURCE if heading == "commonplace" else SOURCE / heading


def is_only_a_docstring(path):
    return len(ast.parse(path.read_text(encoding="utf-8")).body) == 1


def test_architecture_page_has_a_heading_per_folder():
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert {folder_of(heading) for heading in SECTIONS} == folders


@pytest.mark.parametrize("heading", SECTIONS)
def test_architecture_page_has_one_line_per_module(heading):
    """A folder's `__init__.py` that holds nothing but its docstring needs none."""
    modules = [
        path.name
        for path in folder_of(heading).glob("*.py")
        if path.name != "__init__.py" or not is_only_a_docstring(path)
    ]
    named = [name for name in NAMED[heading] if name.endswith(".py") and name != "__init__.py"]
    assert sorted(named) == sorted(name for name in modules if name != "__init__.py")
    assert set(modules) <= set(NAMED[heading])


@pytest.mark.parametrize("heading", SECTIONS)
def test_architecture_page_names_only_existing_files(heading):
    for name in NAMED[heading]:
        assert (folder_of(heading) / name).exists(), f"{heading}/{name}"


def test_architecture_page_names_every_data_file():
    """Files of folders without modules (migrations, demo data) are named by their folder."""
    named = {folder_of(heading) / name for heading, names in NAMED.items() for name in names}
    data = {
        path
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and path.name[0] != "."
    }
    assert {str(path) for path in data if path not in named and path.parent not in named} == set()


def test_architecture_page_import_order_is_the_declared_one():
    (drawn,) = re.findall(r"```\n(lazy\n.*?)```", FLOWS, re.S)
    steps = [step.strip() for step in re.split(r"\n→|\n|→", drawn) if step.strip()]
    declared = [", ".join(room.replace(".", "/") for room in rooms) for rooms in DIRECTION]
    assert steps == declared


def test_architecture_page_folder_tree_matches_the_package():
    (drawn,) = re.findall(r"```\nsrc/commonplace/\n(.*?)^benchmarks/", FLOWS, re.M | re.S)
    folders = set(re.findall(r"^  (\w+)/ ", drawn, re.M))
    assert folders == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert folders >= FOLDERS


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/[\w.]*)`", FLOWS))))
def test_architecture_page_flow_paths_exist(path):
    root = SOURCE.parents[1]
    assert (SOURCE / path).exists() or (root / path).exists()

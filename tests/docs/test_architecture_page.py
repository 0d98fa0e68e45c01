"""The architecture page has every folder and module of the package, and no other file."""

import ast
import re
from pathlib import Path

import pytest

import commonplace
from architecture.test_rooms import DIRECTION, FOLDERS

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


def test_every_folder_with_modules_is_a_heading():
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert {folder_of(heading) for heading in SECTIONS} == folders


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_module_has_one_line_under_its_folder(heading):
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
def test_every_line_names_files_that_are_there(heading):
    for name in NAMED[heading]:
        assert (folder_of(heading) / name).exists(), f"{heading}/{name}"


def test_every_data_file_is_named():
    """Files of folders without modules (migrations, demo data) are named by their folder."""
    named = {folder_of(heading) / name for heading, names in NAMED.items() for name in names}
    data = {
        path
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and path.name[0] != "."
    }
    assert {str(path) for path in data if path not in named and path.parent not in named} == set()


def test_the_order_of_imports_is_the_declared_one():
    (drawn,) = re.findall(r"```\n(errors, model\n.*?)```", FLOWS, re.S)
    steps = [step.strip() for step in re.split(r"\n→|\n|→", drawn) if step.strip()]
    declared = [", ".join(room.replace(".", "/") for room in rooms) for rooms in DIRECTION]
    assert steps == declared


def test_the_drawn_folders_are_the_packages_own():
    (drawn,) = re.findall(r"```\nsrc/commonplace/\n(.*?)^benchmarks/", FLOWS, re.M | re.S)
    folders = set(re.findall(r"^  (\w+)/ ", drawn, re.M))
    assert folders == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert folders >= FOLDERS


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/[\w.]*)`", FLOWS))))
def test_every_path_in_the_flows_exists(path):
    root = SOURCE.parents[1]
    assert (SOURCE / path).exists() or (root / path).exists()

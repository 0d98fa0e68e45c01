"""Documentation that cannot drift: generated pages are current, the README's code runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Commonplace, User
from commonplace.operations.parameter_help import HELP
from commonplace.operations.table import OPERATIONS
from support import program
from tools import reference

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", reference.PAGES)
def test_reference_pages_are_current(name):
    page = (ROOT / reference.FOLDER / name).read_text()
    assert page == reference._MADE + reference.PAGES[name](), "run `make docs`"


def test_reference_has_help_for_every_operation_and_parameter():
    for operation in OPERATIONS:
        assert operation.help, operation.name
        for parameter in operation.parameters:
            assert parameter.help
    used = {p.name for operation in OPERATIONS for p in operation.parameters}
    assert used == set(HELP), "a parameter without a verb, or the other way round"


def test_operations_cover_every_verb_of_user():
    verbs = {name for name in dir(User) if not name.startswith("_")}
    not_verbs = {"agent", "revision", "principal"}
    operations = {each.verb for each in OPERATIONS if not each.of_the_store}
    assert verbs - not_verbs == operations


def test_operations_of_the_store_are_methods_of_commonplace():
    verbs = {each.verb for each in OPERATIONS if each.of_the_store}
    of_keys = {"admin_keys", "admin_keys_create", "admin_keys_revoke", "service_keys"}
    of_keys |= {f"service_keys_{verb}" for verb in ("create", "revoke", "rotate")}
    assert (
        verbs
        == {"reembed", "calibrate", "work", "extract_all", "model_users", *of_keys}
        <= set(vars(Commonplace))
    )


def test_readme_python_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert "- ↑updated: [knowledge] The wifi password is daffodil43" in ran.stdout
    assert "Tal said: On Sunday at nine, in the mill." in ran.stdout


def test_readme_commands_run(tmp_path):
    blocks = re.findall(r"```\n(commonplace .*?)```", README, re.S)
    environment = {**os.environ, "COMMONPLACE_STORE": str(tmp_path / "readme.db")}
    lines = [line for block in blocks for line in block.strip().splitlines()]
    assert lines
    for line in lines:
        before, pipe, command = line.rpartition(" | ")
        piped = subprocess.run(before, shell=True, capture_output=True, text=True, check=True)
        name, *arguments = shlex.split(command)
        ran = program.run(
            arguments, environment=environment, stdin=piped.stdout if pipe else "", folder=tmp_path
        )
        assert name == "commonplace"
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_docs_links_lead_to_existing_files():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} → {target}"

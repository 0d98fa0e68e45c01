"""Help is plain and short: a summary for every command and every option, none of them cut."""

import inspect
import re

import pytest
import typer
from typer.testing import CliRunner

from commonplace.operations.table import OPERATIONS
from commonplace.settings import TABLE
from commonplace.surfaces.cli.main import ALIASES, PANELS, build
from commonplace.surfaces.cli.parameters import GLOBALS
from commonplace.surfaces.mcp.server import INSTRUCTIONS
from commonplace.surfaces.rest.routes import NOT_OVER_HTTP

LONGEST = 60
DIALECT = re.compile(
    r"\b(whoever|whatever|beside|anew|told|tell|tells|telling|whose|heard|owed|speaks?|stands?|"
    r"hangs?|let go|come back|in hand|somebody|nobody|oneself|one's)\b",
    re.I,
)
TYPER_OWN = {"--install-completion", "--show-completion", "--help"}


def commands(command=None, path=()):
    """Every command and group, by its words."""
    command = command or typer.main.get_command(build())
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


ALL = [(path, command) for path, command in commands() if path]


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_help_has_a_short_plain_summary_per_command(path, command):
    assert command.short_help
    assert len(command.short_help) <= LONGEST, command.short_help
    assert command.short_help.endswith(".")
    assert "…" not in command.short_help
    assert not DIALECT.search(command.help), DIALECT.search(command.help)


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_help_has_a_short_plain_text_per_option(path, command):
    for parameter in command.params:
        if TYPER_OWN.isdisjoint(parameter.opts):
            first = parameter.help.split(". ")[0]
            assert len(first) <= LONGEST, (parameter.name, first)
            assert not DIALECT.search(parameter.help), (parameter.name, parameter.help)


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_help_shows_no_types_of_python(path, command):
    shown = command.get_help(typer.Context(command, info_name=path[-1]))
    assert "Usage:" in shown
    assert not re.search(r"<\w+|list\[|\{\w+\}", shown), shown


def test_help_of_settings_and_reasons_is_plain():
    for text in (*(setting.help for setting in TABLE), *NOT_OVER_HTTP.values(), INSTRUCTIONS):
        assert not DIALECT.search(text), text


def test_help_docstrings_of_verbs_begin_with_the_summary():
    for operation in OPERATIONS:
        first, _, rest = inspect.getdoc(operation.method).partition("\n")
        assert first == operation.summary
        assert len(first) <= LONGEST, operation.name
        assert not rest or rest.startswith("\n"), (
            f"{operation.name}: a blank line after the summary"
        )


def test_help_summaries_fit_80_columns():
    shown = CliRunner().invoke(build(), ["--help"], env={"COLUMNS": "80"}).output
    for path, command in ALL:
        if len(path) == 1:
            assert f"{command.short_help}\n" in shown, path
    assert max(map(len, shown.splitlines())) <= 80


def test_help_lists_every_command_in_a_section_and_common_ones_first():
    shown = CliRunner().invoke(build(), ["--help"]).output
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in PANELS] == list(PANELS)
    named = {name for names in PANELS.values() for name in names.split()}
    assert named == {path[0] for path, _ in ALL}
    first = shown.partition("Remember and recall:\n")[2].splitlines()[:5]
    everyday = ["remember", "recall", "query", "context", "forget"]
    assert [line.split()[0] for line in first] == everyday


def test_help_aliases_lead_to_existing_commands():
    exists = {path[0] for path, _ in ALL} | {"--version"}
    assert {use.split()[0] for use in ALIASES.values()} <= exists
    assert not set(ALIASES) & {path[0] for path, _ in ALL}


def test_help_exists_for_every_global_option():
    assert all(option.help for option in GLOBALS.values())

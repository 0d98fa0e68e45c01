"""The page about MCP: its commands print settings, its Python runs, its table names every tool."""

import json
import re
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS
from typer.testing import CliRunner

import commonplace
from commonplace.surfaces.cli.main import build
from commonplace.surfaces.mcp.calls import ERROR
from commonplace.surfaces.mcp.client_config import BY_CLIENT
from commonplace.surfaces.mcp.resources import PROMPT_NAME, RESOURCES
from commonplace.surfaces.mcp.tools import TOOLS
from support.mcp_client import command, connected, over_http
from support.rest_server import running

PAGE = (Path(__file__).parents[2] / "docs/mcp.md").read_text()
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("commonplace mcp")]


def test_mcp_page_commands_print_settings():
    assert len(COMMANDS) > 5
    for line in COMMANDS:
        words = line.split()[1:]
        ran = CliRunner().invoke(build(), words)
        assert ran.exit_code == 0, line
        if "codex" in words:
            assert tomllib.loads(ran.stdout)["mcp_servers"]["commonplace"]
        elif len(words) > 2:
            assert "commonplace" in next(iter(json.loads(ran.stdout).values()))


def test_mcp_page_names_every_client():
    for name in BY_CLIENT:
        assert re.search(rf"\b{name}\b", PAGE), name


def test_mcp_page_python_example_runs(tmp_path, capsys):
    """On a store of its own, with this Python's command."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    begun = 'StdioServerParameters(command="commonplace", args=["mcp", "--user", "ana"])'
    assert begun in example
    here = command(str(tmp_path / "page.db"), "--user", "ana")
    exec(compile(example.replace(begun, "HERE"), "docs/mcp.md", "exec"), {"HERE": here})
    assert "tulip42" in capsys.readouterr().out


TOUR = re.findall(r"^(\w+) ({.*})\n# (.*)$", PAGE, re.M)


@contextmanager
def over_stdio(folder):
    with connected(command(str(folder / "tour.db"), "--user", "ana")) as client:
        yield client


@contextmanager
def at_a_server(folder):
    with (
        commonplace.open(str(folder / "tour.db"), embedder="hashing") as book,
        running(book) as server,
        over_http(server.url) as client,
    ):
        yield client


@pytest.mark.parametrize("reached", [over_stdio, at_a_server])
def test_mcp_page_tour_gets_the_shown_answers(reached, tmp_path):
    """Names in braces are ids that an answer before has told."""
    known = {}
    assert len(TOUR) > 10
    with reached(tmp_path) as client:
        for tool, arguments, shown in TOUR:
            for name, id in known.items():
                arguments, shown = (each.replace(f"{{{name}}}", id) for each in (arguments, shown))
            answer = client.call(tool, **json.loads(arguments))
            assert answer.is_error == shown.startswith("not_found"), (tool, arguments)
            if new := re.fullmatch(r'"id": "{(\w+)}"', shown):
                known[new[1]] = answer.structured_content["id"]
            else:
                assert shown in answer.content[0].text, (tool, arguments)
    assert known.keys() == {"door", "keys"}


def test_mcp_page_table_names_every_tool():
    (table,) = re.findall(r"\| when \| tool \|\n(.*?)\n\n", PAGE, re.S)
    named = set(re.findall(r"`(\w+)`", table)) - {"undo"}
    assert named == {tool.name for tool in TOOLS}
    assert "Fourteen tools" in PAGE
    assert len(TOOLS) == 14


def test_mcp_page_names_existing_resources_prompt_and_protocol_versions():
    for uri in re.findall(r"`(memory://[^`]+)`", PAGE):
        assert uri in {place.uri for place in RESOURCES}
    assert f"`{PROMPT_NAME}`" in PAGE
    assert f"`{ERROR}`" in PAGE
    for version in KNOWN_PROTOCOL_VERSIONS:
        assert version in PAGE

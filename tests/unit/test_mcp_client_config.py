"""`commonplace mcp --config`: what goes into a client's settings is right as it stands."""

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commonplace.errors import BadSettings, InvalidInput
from commonplace.surfaces.cli.main import build
from commonplace.surfaces.cli.serve import demo_greeting
from commonplace.surfaces.mcp.client_config import (
    ALL,
    BY_CLIENT,
    CLIENTS,
    LocalLaunch,
    RemoteAddress,
    client_configuration,
)
from commonplace.surfaces.rest.local_token import obtain_token

HERE = LocalLaunch("/usr/bin/commonplace", ["mcp", "--store", "/home/ana/my memory.db"])
THERE = RemoteAddress("https://memory.example.org/mcp")


def entry(client, reached):
    """The server as the client finds it in its file."""
    text = client_configuration(client, reached)
    held = tomllib.loads(text) if client == "codex" else json.loads(text)
    (outer,) = held.values()
    return outer["commonplace"]


@pytest.mark.parametrize("client", BY_CLIENT)
def test_mcp_client_config_contains_the_command_for_a_local_launch(client):
    found = entry(client, HERE)
    assert found["command"] == HERE.command
    assert found["args"] == HERE.arguments
    assert "env" not in found


@pytest.mark.parametrize("client", BY_CLIENT)
def test_mcp_client_config_has_a_key_placeholder(client):
    found = entry(client, LocalLaunch("commonplace", ["mcp"], needs_key=True))
    assert found["env"] == {"COMMONPLACE_KEY": "KEY"}


@pytest.mark.parametrize("client", BY_CLIENT)
def test_mcp_client_config_for_a_server_has_url_and_key_placeholder(client):
    text = client_configuration(client, THERE)
    assert THERE.url in text
    assert "Bearer KEY" in text or "COMMONPLACE_KEY" in text
    entry(client, THERE)


@pytest.mark.parametrize("client", BY_CLIENT)
def test_mcp_client_config_for_a_local_server_has_its_token(client):
    local = RemoteAddress("http://localhost:8765/mcp", "cpl_token")
    assert "Bearer cpl_token" in str(entry(client, local))
    assert "KEY" not in client_configuration(client, local)
    assert "cpl_token" not in repr(local)


def test_mcp_client_config_without_a_client_lists_all_clients():
    text = client_configuration(ALL, HERE)
    for client in CLIENTS:
        assert f"# {client.title}: {client.place}" in text


def test_mcp_client_config_error_lists_the_known_clients():
    with pytest.raises(InvalidInput) as error:
        client_configuration("netscape", HERE)
    assert "cursor" in error.value.remedy


def printed(*words, **environment):
    ran = CliRunner().invoke(build(), ["mcp", "--config", *words], env=environment)
    assert ran.exit_code == 0, ran.exception
    return ran.stdout


def test_mcp_config_command_keeps_options_and_hides_the_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["cursor", "--store", "mine.db", "--user", "ana", "--agent", "cursor"]
    found = json.loads(printed(*words, "--key", "cpk_secret"))["mcpServers"]["commonplace"]
    told = " ".join(found["args"])
    assert f"mcp --store {tmp_path / 'mine.db'} --user ana --agent cursor" in told
    assert found["env"] == {"COMMONPLACE_KEY": "KEY"}
    assert "cpk_secret" not in str(found)


def test_mcp_config_command_includes_environment_settings():
    """A client that is started from a menu has none of its variables."""
    text = printed("codex", COMMONPLACE_STORE="postgresql://db/memory", COMMONPLACE_KEY="cpk_x")
    found = tomllib.loads(text)["mcp_servers"]["commonplace"]
    assert found["args"][-2:] == ["--store", "postgresql://db/memory"]
    assert found["env"] == {"COMMONPLACE_KEY": "KEY"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://memory.example.org", "https://memory.example.org/mcp"),
        ("https://memory.example.org/mcp/", "https://memory.example.org/mcp"),
        ("https://example.org/memory/mcp", "https://example.org/memory/mcp"),
    ],
)
def test_mcp_config_command_completes_the_url(given, found):
    server = json.loads(printed("vscode", "--url", given))["servers"]["commonplace"]
    assert server == {"type": "http", "url": found, "headers": {"Authorization": "Bearer KEY"}}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_mcp_config_command_finds_the_token_of_a_local_server(tmp_path, monkeypatch, host):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    url = f"http://{host}:8765"
    assert "Bearer KEY" in printed("cursor", "--url", url), "nothing was started here"
    token = obtain_token(8765)
    server = json.loads(printed("cursor", "--url", url))["mcpServers"]["commonplace"]
    headers = {"Authorization": f"Bearer {token.value}"}
    assert server == {"url": f"{url}/mcp", "headers": headers}


@pytest.mark.parametrize("url", ["https://localhost:8765", "http://memory.lan:8765"])
def test_mcp_config_command_gives_no_token_to_other_addresses(tmp_path, monkeypatch, url):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    obtain_token(8765)
    assert "Bearer KEY" in printed("cursor", "--url", url)


@pytest.mark.parametrize("url", ["localhost:8765", "ftp://x", "https://"])
def test_mcp_config_command_refuses_an_invalid_url(url):
    ran = CliRunner().invoke(build(), ["mcp", "--config", "cursor", "--url", url])
    assert isinstance(ran.exception, InvalidInput)


def test_mcp_client_and_url_arguments_require_config_option():
    for words in (["cursor"], ["--url", "http://localhost:8765"]):
        ran = CliRunner().invoke(build(), ["mcp", *words])
        assert isinstance(ran.exception, InvalidInput)


def test_mcp_command_without_the_extra_names_the_install_command(monkeypatch):
    """The settings of a client can be printed all the same."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "commonplace.surfaces.mcp.server", raising=False)
    ran = CliRunner().invoke(build(), ["mcp", "--store", ":memory:"])
    assert isinstance(ran.exception, BadSettings)
    assert "commonplace[server]" in ran.exception.remedy
    assert "commonplace" in printed("cursor")


@pytest.mark.parametrize("on_the_path", ["/usr/bin/commonplace", None])
def test_demo_greeting_mcp_command_prints_the_started_servers_url(monkeypatch, on_the_path):
    monkeypatch.setattr(shutil, "which", lambda name: on_the_path)
    lines = demo_greeting("", None)("http://127.0.0.1:9", "cpl_token")
    (said,) = (line for line in lines if line.startswith("  MCP"))
    where, *typed = said.split("MCP")[1].split()
    assert where == f"XDG_DATA_HOME={os.environ['XDG_DATA_HOME']}", "where the token is"
    assert (typed[0] == "commonplace") is bool(on_the_path)
    assert on_the_path or Path(typed[0]).exists(), "it can be typed as it stands"
    words = typed[typed.index("mcp") :]
    ran = CliRunner().invoke(build(), [*words[:2], "cursor", *words[2:]])
    assert ran.exit_code == 0, ran.output
    assert "http://127.0.0.1:9/mcp" in ran.stdout

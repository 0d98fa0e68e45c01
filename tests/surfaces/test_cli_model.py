"""`commonplace model check`: what an owner sees who has just set a model up."""

from __future__ import annotations

import json

import pytest

from commonplace.surfaces.cli import main as command_line
from support.model_server import model_server, refuse


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """The exit code and what was printed."""

    def run(*words):
        options = ["--store", str(tmp_path / "memory.db"), "--user", "ana", "--embedder", "hashing"]
        monkeypatch.setattr("sys.argv", ["commonplace", *words, *options])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out + printed.err

    return run


@pytest.fixture
def server(monkeypatch):
    with model_server({"sum": 42}, forms={"json_object", "text"}) as running:
        monkeypatch.setenv("COMMONPLACE_MODEL", "openai:big")
        monkeypatch.setenv("COMMONPLACE_MODEL_SMALL", "openai:small")
        monkeypatch.setenv("COMMONPLACE_MODEL_URL", running.url)
        yield running


def test_cli_model_check_shows_each_model(typed, server):
    code, told = typed("model", "check")
    assert code == 0
    big, small = told.splitlines()[:2]
    assert big.startswith("✓ openai:big  json_object  ")
    assert big.endswith(" tokens read, 2 written")
    assert small.startswith("✓ openai:small  json_object  ")
    assert "cheap" in told
    used = json.loads(typed("model", "usage", "--json")[1])["usage"]
    calls = {row["model"]: row["calls"] for row in used}
    assert calls == {"openai:big": 1, "openai:small": 1}


def test_cli_model_users_shows_the_usage_of_each_user(typed, server):
    assert "No usage of language models" in typed("model", "users")[1]
    typed("model", "check")
    code, told = typed("model", "users", "--days", "7")
    assert code == 0
    assert told.startswith("ana  2 calls, 0 cached, 0 failed; ")
    (used,) = json.loads(typed("model", "users", "--json")[1])
    assert (used["user_id"], used["calls"], used["cost"]) == ("ana", 2, None)


def test_cli_model_check_fails_with_the_problem_and_the_remedy(typed, server):
    server.then = [refuse(401, "sk-secret")]
    code, told = typed("model", "check")
    assert code == 1
    assert "COMMONPLACE_MODEL_KEY" in told
    assert "sk-secret" not in told
    assert "→ " in told


def test_cli_model_check_without_a_model_fails(typed):
    code, told = typed("model", "check")
    assert code == 1
    assert "✗ no language model" in told
    assert "COMMONPLACE_MODEL" in told


def test_cli_refuses_a_model_key_in_the_settings_file(typed, tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text('model_key = "sk-secret"\n')
    monkeypatch.setenv("COMMONPLACE_CONFIG", str(file))
    code, told = typed("model", "check")
    assert code == 1
    assert "bad_settings" in told
    assert "COMMONPLACE_MODEL_KEY" in told
    assert "sk-secret" not in told

"""Keys as people type them: made, used, listed and ended from a shell."""

import json
import os
from pathlib import Path

import pytest

from support import program


@pytest.fixture
def commonplace(tmp_path: Path):
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")},
        "COMMONPLACE_STORE": str(tmp_path / "memory.db"),
        "COMMONPLACE_USER": "ana",
        "COMMONPLACE_EMBEDDER": "hashing",
        "HOME": str(tmp_path),
        "COLUMNS": "40",  # narrower than a token, which must come out whole
    }

    def run(*arguments, key=None):
        variables = environment if key is None else {**environment, "COMMONPLACE_KEY": key}
        return program.run(arguments, environment=variables)

    return run


def made(commonplace, *arguments, key=None):
    ran = commonplace("keys", *arguments, "--json", key=key)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def code(ran):
    assert ran.returncode == 1
    return ran.stderr.partition(":")[0]


def test_cli_keys_create_prints_the_whole_token_once(commonplace):
    told = commonplace("keys", "create", "laptop", "--ttl-days", "30", "--read-only").stdout
    (token,) = [line for line in told.splitlines() if line.startswith("cpk_")]
    assert "owner, read only" in told
    assert "Shown once" in told
    assert commonplace("list", "--key", token).returncode == 0
    listed = commonplace("keys").stdout
    assert "valid laptop" in listed
    assert "cpk_" not in listed


def test_cli_key_limits_commands_to_the_rights_of_the_key(commonplace):
    commonplace("remember", "I prefer tea over coffee")
    planner = made(commonplace, "create", "bot", "--for-agent", "planner")["token"]
    reader = made(commonplace, "create", "reader", "--read-only")["token"]
    hits = json.loads(commonplace("recall", "tea", "--json", key=reader).stdout)["hits"]
    assert len(hits) == 1
    assert json.loads(commonplace("recall", "tea", "--json", key=planner).stdout)["hits"] == []
    for arguments, key in (
        (("remember", "x"), reader),
        (("list", "--cleared"), reader),
        (("list", "--user", "bob"), reader),
        (("recall", "tea", "--agent", "supervisor"), planner),
        (("export",), planner),
        (("keys",), planner),
        (("keys", "admin"), reader),
        (("keys", "admins"), reader),
        (("worker", "--once"), reader),
        (("reembed",), reader),
        (("calibrate", "--reset"), reader),
    ):
        assert code(commonplace(*arguments, key=key)) == "not_allowed", arguments
    assert json.loads(commonplace("list", "--json").stdout)["memories"][0]["agent_id"] is None


def test_cli_revoked_or_rotated_key_is_unauthenticated(commonplace):
    key = made(commonplace, "create", "laptop")
    new = made(commonplace, "rotate", key["id"])
    ran = commonplace("list", key=key["token"])
    assert code(ran) == "unauthenticated"
    assert key["token"] not in ran.stdout + ran.stderr
    assert commonplace("keys", "revoke", new["id"], key=new["token"]).returncode == 0
    assert code(commonplace("list", key=new["token"])) == "unauthenticated"
    assert code(commonplace("worker", "--once", key="cpk_nothing")) == "unauthenticated"
    assert "revoked laptop" in commonplace("keys").stdout


def test_cli_empty_key_is_unauthenticated(commonplace):
    """Such as a variable of the shell that was never set."""
    commonplace("remember", "The lamp is green")
    for verb in (("list",), ("export",), ("worker", "--once"), ("keys", "admins")):
        assert code(commonplace(*verb, key="")) == "unauthenticated"
        assert code(commonplace(*verb, "--key", "")) == "unauthenticated"


def test_cli_admin_key_manages_keys_and_store_but_reads_no_memory(commonplace):
    commonplace("remember", "The lamp is green")
    admin = made(commonplace, "admin", "operations", "--ttl-days", "1")
    assert admin["user_id"] is None
    token = admin["token"]
    for verb in (("list",), ("recall", "lamp"), ("export",), ("stats",)):
        assert code(commonplace(*verb, key=token)) == "not_allowed"
        assert code(commonplace(*verb, "--user", "ana", key=token)) == "not_allowed"
    assert code(commonplace("keys", key=token)) == "missing_field"
    hers = made(commonplace, "create", "first", "--user", "bea", key=token)
    listed = json.loads(commonplace("keys", "--user", "bea", "--json", key=token).stdout)
    assert [key["id"] for key in listed] == [hers["id"]]
    assert commonplace("remember", "Mine", key=hers["token"]).returncode == 0
    assert commonplace("worker", "--once", key=token).returncode == 0
    assert "admin" in commonplace("keys", "admins", key=token).stdout
    assert commonplace("keys", "revoke-admin", admin["id"]).returncode == 0
    assert code(commonplace("keys", "admins", key=token)) == "unauthenticated"


def test_cli_doctor_with_a_key_hides_store_and_settings(commonplace):
    token = made(commonplace, "create", "laptop")["token"]
    assert "user=ana" in commonplace("doctor", "--json", "--user", "ana").stdout
    told = json.loads(commonplace("doctor", "--json", key=token).stdout)
    assert "index" in {each["what"] for each in told}
    assert not {each["what"] for each in told} & {"integrity", "settings", "versions"}

"""What people type: words without quotes, the first characters of an id, names of other programs,
help in any place; and what a terminal asks before something is erased."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import commonplace
from commonplace.api.id_prefixes import ITEMS, SHORTEST, IdKind, complete_id
from commonplace.errors import InvalidInput
from support import program

TALK = "Noa: Shall we meet on Sunday?\nTal: Sunday is fine, at the harbour.\n"


@pytest.fixture
def environment(tmp_path: Path):
    kept = {name: value for name, value in os.environ.items() if "COMMONPLACE" not in name}
    return {
        **kept,
        "COMMONPLACE_STORE": str(tmp_path / "memory.db"),
        "COMMONPLACE_EMBEDDER": "hashing",
        "COMMONPLACE_USER": "ana",
        "HOME": str(tmp_path),
        "COLUMNS": "80",
    }


@pytest.fixture
def typed(environment):
    def run(*words, **variables):
        return program.run(list(words), environment={**environment, **variables})

    return run


def answer(ran):
    assert ran.returncode in (0, 3), ran.stderr
    return json.loads(ran.stdout)


# ——— words without quotes ———


def test_cli_joins_unquoted_words_into_one_text(typed):
    kept = answer(typed("remember", "I", "like", "tea", "--kind", "note", "--json"))
    assert kept["memory"]["content"] == "I like tea"
    assert answer(typed("recall", "like", "tea", "--json"))["query"] == "like tea"
    assert answer(typed("query", "like", "tea", "--json"))["query"] == "like tea"
    assert typed("context", "like", "tea").returncode == 0
    assert typed("observe", "I", "am", "allergic", "to", "nuts.").returncode == 0
    assert answer(typed("nodes", "add", "Dana", "Levi", "--json"))["node"]["name"] == "Dana Levi"
    assert answer(typed("node", "Dana", "Levi", "--json"))["node"]["name"] == "Dana Levi"
    assert typed("verify-forget", "no", "such", "text").returncode == 0


def test_cli_joins_words_of_a_profile_value_except_for_lists(typed):
    typed("profile", "set", "city", "New", "York")
    typed("profile", "set", "preferred_name", "Ana", "Maria")
    typed("profile", "set", "favourite_dish", "dark", "chocolate")
    typed("profile", "set", "goals", "learn to swim", "rest")
    typed("profile", "propose", "goals_add", "read", "more")
    assert answer(typed("profile", "--json"))["fields"] == {
        "city": "New York",
        "favourite_dish": "dark chocolate",
        "goals": ["learn to swim", "rest", "read more"],
        "preferred_name": "Ana Maria",
    }


def test_cli_joins_words_of_an_artifact(typed):
    made = answer(typed("artifacts", "create", "Letter", "Dear", "Dana", "--json"))
    assert made["artifact"]["output"] == "Dear Dana"


def test_cli_text_that_needs_quotes_gets_a_hint(typed):
    typed("nodes", "add", "Noa", "Adler")
    refused = typed("note", "Noa Adler", "Prefers", "the", "morning", "--json")
    assert "quotes" in json.loads(refused.stderr)["error"]["remedy"]
    assert "Put quotes around" in typed("edges", "Noa", "Adler").stderr


def test_cli_text_with_a_dash_gets_a_hint_that_works(typed):
    refused = typed("remember", "I", "am", "5", "-3", "degrees")
    assert refused.returncode == 2
    assert "No such option: -3. If it is part of a text, put -- before the text" in refused.stderr
    kept = answer(typed("remember", "--json", "--", "It", "is", "-3", "degrees"))
    assert kept["memory"]["content"] == "It is -3 degrees"
    misspelt = typed("remember", "--impotance", "3", "tea").stderr
    assert "--importance" in misspelt
    assert "put --" not in misspelt


# ——— files and empty lists ———


def test_cli_missing_file_is_the_same_error_for_every_command(typed):
    errors = [
        json.loads(typed(command, "/nope", "--json").stderr)["error"]
        for command in ("ingest", "import", "remember-many")
    ]
    messages = {(error["code"], error["message"]) for error in errors}
    assert messages == {("invalid_input", "/nope cannot be read: No such file or directory.")}


def test_cli_empty_lists_name_what_is_missing(typed):
    for words, shown in (
        (["keys"], "No API keys."),
        (["keys", "admins"], "No admin API keys."),
        (["teams"], "No teams."),
        (["jobs"], "No jobs."),
        (["conflicts"], "No conflicts."),
        (["artifacts"], "No artifacts."),
    ):
        assert typed(*words).stdout.strip() == shown


# ——— the first characters of an id ———


def test_cli_accepts_the_first_characters_of_a_memory_id(typed):
    id = answer(typed("remember", "The gate is green", "--json"))["id"]
    start = id[:SHORTEST]
    assert answer(typed("show", start, "--json"))["memory"]["id"] == id
    assert answer(typed("history", start, "--json"))[0]["memory_id"] == id
    changed = answer(typed("update", start, "--importance", "5", "--json"))
    assert changed["id"] == id
    assert answer(typed("forget", start, "--json"))["ids"] == [id]
    assert answer(typed("restore", start, "--json"))["ids"] == [id]
    assert typed("erase", start).returncode == 0
    assert typed("show", start).returncode == 1


def test_cli_completes_prefixes_of_every_kind_of_id(typed, tmp_path):
    talk = tmp_path / "talk.txt"
    talk.write_text(TALK)
    source = answer(typed("ingest", str(talk), "--json"))["source"]["id"]
    short = source.removeprefix("source:")[:8]
    assert answer(typed("show", short, "--json"))["source"]["id"] == source
    assert answer(typed("show", f"source:{short}", "--json"))["source"]["id"] == source
    assert typed("show", f"{short}#1").returncode == 0
    node = answer(typed("nodes", "add", "Dana", "--json"))["id"]
    start = node.removeprefix("node:")[:8]
    assert answer(typed("node", start, "--json"))["node"]["id"] == node
    edge = answer(typed("relate", start, "friend", "me", "--json"))["id"]
    assert answer(typed("show", edge.removeprefix("edge:")[:8], "--json"))["edge"]["id"] == edge
    made = answer(typed("artifacts", "create", "Letter", "Dear Dana", "--json"))["id"]
    assert typed("artifacts", "show", made.removeprefix("artifact:")[:8]).returncode == 0
    key = answer(typed("keys", "create", "laptop", "--json"))["id"]
    assert answer(typed("keys", "revoke", key[:8], "--json"))["id"] == key
    admin = answer(typed("keys", "admin", "ops", "--json"))["id"]
    assert answer(typed("keys", "revoke-admin", admin[:8], "--json"))["id"] == admin
    asked = typed("profile", "propose", "city", "Berlin", "--agent", "helper", "--json")
    proposal = answer(asked)["id"]
    assert typed("profile", "accept", proposal.removeprefix("proposal:")[:8]).returncode == 0
    door = ("remember", "--kind", "kv", "--metadata", "subject=door", "--json", "--metadata")
    typed(*door, "value=1")
    conflict = answer(typed(*door, "value=2"))["conflict"]
    assert typed("resolve", conflict[:8], "override").returncode == 0


def test_cli_id_prefix_too_short_or_unknown_is_not_found(typed):
    id = answer(typed("remember", "The gate is green", "--json"))["id"]
    for nothing in (id[: SHORTEST - 1], "00000000000", "zzzzzz"):
        refused = typed("show", nothing, "--json")
        assert json.loads(refused.stderr)["error"]["code"] == "not_found"


def test_cli_id_prefix_too_short_says_how_many_characters_it_needs(typed):
    id = answer(typed("remember", "The gate is green", "--json"))["id"]
    for words in (("show",), ("forget",), ("erase",), ("history",)):
        error = json.loads(typed(*words, id[: SHORTEST - 1], "--json").stderr)["error"]
        assert error["code"] == "not_found"
        assert error["remedy"].endswith("A prefix of an id needs at least 6 characters.")
    unknown = json.loads(typed("show", "zzz", "--json").stderr)["error"]
    assert "prefix" not in unknown["remedy"]


@pytest.fixture
def me(open_book):
    """On SQLite and on PostgreSQL, with ids that begin alike."""
    return open_book().user("ana")


def test_cli_ambiguous_id_prefix_is_refused_with_the_candidates(me):
    numbers = iter(range(100))
    me = type(me)(
        replace(me._engine, new_id=lambda: f"abcdef{next(numbers):02}-0000-4000-8000-000000000000"),
        me.principal,
    )
    first = me.remember("The gate is green", kind="note").id
    other = me.remember("Tomatoes need sun", kind="note").id
    with pytest.raises(InvalidInput) as refused:
        complete_id(me, "abcdef", ITEMS, "id")
    assert first in refused.value.remedy
    assert other in refused.value.remedy
    assert complete_id(me, first[:8], ITEMS, "id") == first
    assert complete_id(me, first, ITEMS, "id") == first
    assert complete_id(me, "file:/home/ana/x.txt", ITEMS, "id") == "file:/home/ana/x.txt"


def test_cli_id_prefix_finds_only_visible_memories(me):
    hers = me.agent("writer").remember("Only mine", kind="note", agent_id="writer").id
    secret = me.remember("The safe code is 1", sensitivity="high", kind="note").id
    stranger = me.agent("reader")
    for id in (hers, secret):
        seen = complete_id(stranger, id[:8], [IdKind.MEMORY], "id") == id
        try:
            stranger.show(id)
        except commonplace.CommonplaceError:
            assert not seen
        else:
            assert seen


def test_cli_node_name_that_looks_like_an_id_is_taken_as_a_name(me):
    me.nodes_add("facade")
    assert complete_id(me, "facade", [IdKind.GRAPH], "id") == "facade"


# ——— names of other programs, help, version, completion ———


@pytest.mark.parametrize(
    ("tried", "use"),
    [("add", "remember"), ("search", "recall"), ("delete", "forget"), ("ls", "list")],
)
def test_cli_alias_of_a_command_names_the_right_command(typed, tried, use):
    ran = typed(tried, "I", "like", "recall")
    assert ran.returncode == 2
    assert f"No command '{tried}'. Use: commonplace {use} …" in ran.stderr


def test_cli_misspelt_command_gets_suggestions(typed):
    assert "Did you mean: remember" in typed("remeber", "tea").stderr
    assert "Did you mean: create" in typed("teams", "creat", "x").stderr


def test_cli_help_has_two_spellings_and_version_needs_no_command(typed):
    for words in ((), ("remember",), ("teams",), ("teams", "create"), ("serve",)):
        short, long = typed(*words, "-h"), typed(*words, "--help")
        assert (short.returncode, short.stdout) == (0, long.stdout)
    assert typed("--version").stdout == f"commonplace {commonplace.__version__}\n"
    assert typed("--version").returncode == 0


def test_cli_shell_completion_completes_commands(environment):
    script = subprocess.run(
        [sys.executable, "-m", "commonplace", "--show-completion", "bash"],
        env={**environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "COMPLETE" in script.stdout, script.stderr
    asked = {"COMP_WORDS": "commonplace reca", "COMP_CWORD": "1"}
    variable = re.search(r"(_\w+_COMPLETE)=complete_bash", script.stdout)
    completed = subprocess.run(
        [sys.executable, "-m", "commonplace"],
        env={**environment, **asked, variable[1]: "complete_bash"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert completed.stdout.split() == ["recall", "recall-many"], completed.stderr


# ——— a terminal ———


def at_a_terminal(words, environment, typed=b"", columns=80):
    """What a real terminal shows, with what is typed there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "COLUMNS": str(columns), "TERM": "xterm"},
        close_fds=True,
    )
    os.close(theirs)
    if typed:
        os.write(ours, typed)
    shown, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        elif process.poll() is not None:
            break
    code = process.wait(timeout=30)
    os.close(ours)
    return code, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())


def test_cli_erase_on_a_terminal_asks_for_confirmation(typed, environment):
    id = answer(typed("remember", "The gate is green", "--json"))["id"]
    code, shown = at_a_terminal(["erase", id[:8]], environment, b"n\n")
    assert code == 1
    assert "This cannot be undone" in shown
    assert typed("show", id).returncode == 0
    assert at_a_terminal(["erase", id[:8]], environment, b"y\n")[0] == 0
    assert typed("show", id).returncode == 1
    other = answer(typed("remember", "Tomatoes need sun", "--json"))["id"]
    code, shown = at_a_terminal(["erase", other, "--yes"], environment)
    assert code == 0
    assert "This cannot be undone" not in shown
    assert at_a_terminal(["erase-user"], environment, b"n\n")[0] == 1


def test_cli_erase_question_names_the_items(typed, environment, tmp_path):
    kept = answer(typed("remember", "The gate is green", "--json"))["id"]
    talk = tmp_path / "talk.txt"
    talk.write_text(TALK)
    source = answer(typed("ingest", str(talk), "--json"))["source"]["id"]
    node = answer(typed("nodes", "add", "Dana", "--json"))["id"]
    edge = answer(typed("relate", "Dana", "friend", "me", "--json"))["id"]
    ids = [kept, source, node, edge]
    _, shown = at_a_terminal(["erase", *ids], environment, b"n\n", columns=200)
    assert f"{kept}  The gate is green" in shown
    assert f"{node}  Dana" in shown
    assert source in shown
    assert edge in shown
    assert "Erase 4 items? This cannot be undone." in shown


def test_cli_erase_question_accepts_forgotten_items(typed, environment):
    kept = answer(typed("remember", "The gate is green", "--json"))["id"]
    typed("forget", kept)
    code, shown = at_a_terminal(["erase", kept], environment, b"y\n")
    assert (code, kept in shown) == (0, True)


def test_cli_erase_of_an_unknown_id_is_refused_before_the_question(typed, environment):
    typed("nodes", "add", "Dana")
    for unknown in ("00000000-0000-4000-8000-000000000000", "zzz", "Dana"):
        code, shown = at_a_terminal(["erase", unknown], environment)
        assert code == 1
        assert "not_found" in shown
        assert "This cannot be undone" not in shown


def test_cli_delete_question_names_the_team_and_the_user(typed, environment):
    typed("teams", "create", "Garden", "club")
    _, shown = at_a_terminal(["teams", "delete", "Garden club"], environment, b"n\n", columns=200)
    assert "Delete the team 'Garden club'" in shown
    _, shown = at_a_terminal(["erase-user"], environment, b"n\n", columns=200)
    assert "Erase the whole memory of the user 'ana'?" in shown


@pytest.mark.parametrize("columns", [80, 40])
def test_cli_shows_whole_ids_at_any_width(typed, environment, columns):
    node = answer(typed("nodes", "add", "Dana", "--description", "A " * 40 + "end", "--json"))
    ids = [node["id"]]
    ids.append(answer(typed("remember", "The gate is green, " * 8, "--json"))["id"])
    for words, id in ((["people"], ids[0]), (["list"], ids[1]), (["show", ids[1]], ids[1])):
        _, shown = at_a_terminal(words, environment, columns=columns)
        assert id in shown, shown
        longest = max(len(line) for line in re.sub(r"\S*[0-9a-f-]{36}\S*", "", shown).splitlines())
        assert longest <= columns, shown

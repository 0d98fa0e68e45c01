"""The command as a program: real processes, exit codes, pipes, files, environment."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import program


@pytest.fixture
def environment(tmp_path: Path):
    """A store and a home of its own."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")},
        "COMMONPLACE_STORE": str(tmp_path / "my memory.db"),
        "COMMONPLACE_EMBEDDER": "hashing",
        "HOME": str(tmp_path),
        "COLUMNS": "100",
    }


@pytest.fixture
def commonplace(environment):
    def run(*arguments, stdin="", **variables):
        return program.run(arguments, environment={**environment, **variables}, stdin=stdin)

    return run


@pytest.fixture
def started_from_the_shell(environment):
    """A new interpreter for each command: slower, and what people really type."""

    def run(*arguments, stdin=""):
        return subprocess.run(
            [sys.executable, "-m", "commonplace", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )

    return run


def test_cli_show_of_several_matches_speaks_of_no_change(commonplace):
    commonplace("remember", "The garage code is 4711", "--kind", "note")
    commonplace("remember", "The garage code is on the fridge", "--kind", "note")
    told = commonplace("show", "garage", "code").stdout
    assert "Several items match" in told
    assert "changed" not in told


def test_cli_session_of_common_commands_works_end_to_end(commonplace, tmp_path):
    assert "✓ remembered" in commonplace("remember", "The spare keys are in the blue drawer").stdout
    recalled = commonplace("recall", "spare keys", "--explain")
    assert "Recalled because" in recalled.stdout
    assert "█" in recalled.stdout
    found = json.loads(commonplace("recall", "spare keys", "--json").stdout)
    id = found["hits"][0]["id"]
    assert "[knowledge]" in commonplace("list").stdout
    assert "version 1" in commonplace("show", id).stdout
    assert "version 1" in commonplace("show", "spare", "keys").stdout
    assert "restorable until" in commonplace("forget", id).stdout
    assert "No relevant memory" in commonplace("recall", "spare keys").stdout
    assert "restored" in commonplace("restore", id).stdout
    examined = json.loads(commonplace("doctor", "--json").stdout)
    assert [finding["what"] for finding in examined if not finding["ok"]] == []
    assert "search" in commonplace("events").stdout
    file = tmp_path / "ana.jsonl"
    assert commonplace("export", "--output", str(file)).returncode == 0
    imported = commonplace("import", str(file), "--user", "copy", "--json")
    assert json.loads(imported.stdout)["memories"] == 1
    piped = commonplace("import", "-", "--user", "third", stdin=file.read_text())
    assert piped.returncode == 0
    commonplace("remember", "Said in a thread", "--thread", "t1")
    assert json.loads(commonplace("change-log", "t1", "--json").stdout)[0]["event"] == "ADD"


def test_cli_splits_files_into_lines_at_line_feeds_only(commonplace, tmp_path):
    """U+2028 and its like may stand in a value."""
    odd, file = "A\u2028b\x85c", tmp_path / "memory.jsonl"
    items = tmp_path / "items.txt"
    items.write_bytes(f"{odd}\r\nSecond\n".encode())
    kept = json.loads(commonplace("remember-many", str(items), "--json").stdout)
    assert [each["memory"]["content"] for each in kept] == [odd, "Second"]
    commonplace("export", "--output", str(file))
    commonplace("import", str(file), "--user", "copy")
    listed = json.loads(commonplace("list", "--user", "copy", "--json").stdout)["memories"]
    assert {each["content"] for each in listed} == {odd, "Second"}


def test_cli_runs_as_a_process_with_pipes(started_from_the_shell):
    assert "✓ remembered" in started_from_the_shell("remember", "The keys are in the drawer").stdout
    refused = started_from_the_shell("import", "-", stdin="words")
    assert refused.returncode == 1
    assert refused.stderr.startswith("invalid_input: ")
    assert json.loads(started_from_the_shell("stats", "--json").stdout)["live"] == 1
    assert started_from_the_shell("no-such-command").returncode == 2


def test_cli_exit_codes(commonplace):
    assert commonplace("remember", "something").returncode == 0
    assert commonplace("remember", " ").returncode == 1
    assert commonplace("no-such-command").returncode == 2
    assert commonplace("recall").returncode == 2
    assert commonplace("list", "--limit", "many").returncode == 2


def test_cli_error_has_code_and_remedy_and_no_traceback(commonplace):
    refused = commonplace("show", "nowhere")
    assert refused.stderr.startswith("not_found: ")
    assert "→" in refused.stderr
    assert "Traceback" not in refused.stderr
    told = json.loads(commonplace("show", "nowhere", "--json").stderr)["error"]
    assert {"code", "message", "remedy", "retryable"} <= told.keys()


def test_cli_global_options_work_before_and_after_the_command(commonplace):
    assert commonplace("--user", "bob", "remember", "before").returncode == 0
    assert commonplace("remember", "after", "--user", "bob").returncode == 0
    assert json.loads(commonplace("stats", "--json", "--user", "bob").stdout)["live"] == 2
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 0


def test_cli_settings_precedence_is_flag_environment_file(commonplace, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('user = "from-file"\n')
    use_file = {"COMMONPLACE_CONFIG": str(file)}

    def whose(*flags, **variables):
        told = commonplace("stats", "--json", *flags, **use_file, **variables)
        return json.loads(told.stdout)["user_id"]

    assert whose() == "from-file"
    assert whose(COMMONPLACE_USER="from-variable") == "from-variable"
    assert whose("--user", "from-flag", COMMONPLACE_USER="from-variable") == "from-flag"


def test_cli_names_a_bad_setting(commonplace, tmp_path):
    assert "bad_settings" in commonplace("list", COMMONPLACE_CACHE_MB="lots").stderr
    assert "bad_settings" in commonplace("list", COMMONPLACE_CONFIG="/nowhere.toml").stderr
    file = tmp_path / "settings.toml"
    file.write_text("colour = 'red'\n")
    assert "colour" in commonplace("list", COMMONPLACE_CONFIG=str(file)).stderr


def test_cli_refuses_a_store_of_another_embedder(commonplace):
    commonplace("remember", "something")
    refused = commonplace("list", "--embedder", "wordllama")
    assert refused.returncode == 1
    assert refused.stderr.startswith("embedder_mismatch: ")


def test_cli_demo_ends_without_a_terminal(started_from_the_shell):
    toured = started_from_the_shell("demo", stdin="")
    assert toured.returncode == 0
    for chapter in ("Remember", "Recall", "What changed?", "Forget and restore", "Erase"):
        assert chapter in toured.stdout
    assert "✓ The text was not found." in toured.stdout


def test_cli_export_into_a_closed_pipe_prints_no_traceback(commonplace, tmp_path):
    commonplace("remember", "something")
    store = tmp_path / "my memory.db"
    shell = f'"{sys.executable}" -m commonplace export --store "{store}" --embedder hashing | true'
    piped = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in piped.stderr


def test_cli_erase_user_requires_yes(commonplace):
    commonplace("remember", "something")
    refused = commonplace("erase-user")
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 1
    assert commonplace("erase-user", "--yes").returncode == 0
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 0


def test_cli_second_forget_tells_the_purge_date_of_the_first(commonplace):
    commonplace("remember", "The gate is green")
    id = json.loads(commonplace("list", "--json").stdout)["memories"][0]["id"]
    first = re.search(r"restorable until (\S+)", commonplace("forget", id).stdout)
    again = commonplace("forget", id).stdout
    assert first is not None
    assert "Nothing new to forget. Forgotten before: 1" in again
    assert f"restorable until {first[1]}" in again
    assert commonplace("forget", "--category", "tasks").stdout == "Nothing new to forget.\n"


def test_cli_forget_by_words_names_the_option_for_them(commonplace):
    commonplace("remember", "Rob owes me money")
    refused = commonplace("forget", "Rob owes me money")
    assert refused.returncode != 0
    assert "forget --query" in refused.stderr


def test_cli_verify_forget_exit_code_says_whether_a_text_remains(commonplace):
    commonplace("remember", "The secret word is xylophone")
    assert commonplace("verify-forget", "xylophone").returncode == 1
    commonplace("erase-user", "--yes", "--now")
    assert commonplace("verify-forget", "xylophone", "--files").returncode == 0


def test_cli_export_to_an_unwritable_file_is_an_error_with_a_code(commonplace):
    refused = commonplace("export", "--output", "/nonexistent/folder/x.jsonl")
    assert refused.stderr.startswith("invalid_input: ")
    assert "Traceback" not in refused.stderr


def test_cli_names_an_unwritable_data_home(commonplace, tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    refused = commonplace("list", COMMONPLACE_STORE="", XDG_DATA_HOME=str(blocked))
    assert refused.stderr.startswith("bad_settings: ")


def test_cli_reembed_changes_the_embedder_and_refuses_the_old_one(commonplace):
    commonplace("remember", "The spare keys are in the blue drawer", "--kind", "note")
    changed = commonplace("reembed", "--embedder", "wordllama")
    assert changed.returncode == 0, changed.stderr
    assert "1 memories embedded" in changed.stdout
    refused = commonplace("recall", "spare keys")
    assert refused.returncode == 1
    assert "reembed" in refused.stderr
    found = commonplace("recall", "spare keys", "--embedder", "wordllama", "--json")
    assert json.loads(found.stdout)["hits"][0]["similarity"] is not None
    back = json.loads(commonplace("reembed", "--json").stdout)  # to the one in the settings
    assert (back["embedder"], back["memories"]) == ("hashing-256", 1)


def test_cli_uses_the_embedder_of_the_store(commonplace):
    commonplace("remember", "The spare keys are in the blue drawer", "--embedder", "wordllama")
    unnamed = {"COMMONPLACE_EMBEDDER": ""}
    found = commonplace("recall", "spare keys", "--json", **unnamed)
    assert json.loads(found.stdout)["hits"][0]["similarity"] is not None
    for command in (["list"], ["people"], ["keys", "create", "laptop"], ["doctor"]):
        ran = commonplace(*command, **unnamed)
        assert ran.returncode == 0, ran.stderr


def test_cli_reembed_needs_the_name_of_the_new_embedder(commonplace):
    refused = commonplace("reembed", COMMONPLACE_EMBEDDER="")
    assert refused.returncode == 1
    assert refused.stderr.startswith("missing_field: ")
    assert "--embedder NAME" in refused.stderr


def test_cli_reembed_is_refused_to_agents(commonplace):
    commonplace("remember", "something", "--kind", "note")
    refused = commonplace("reembed", "--embedder", "wordllama", "--agent", "helper")
    assert refused.returncode == 1
    assert refused.stderr.startswith("not_allowed")


def test_cli_empty_agent_is_refused(commonplace):
    """Before the command's name as after it: what only the owner may do is not done."""
    command = ("profile", "set", "city", "Berlin")
    for refused in (
        commonplace("--agent", "", *command),
        commonplace(*command, "--agent", "  "),
        commonplace("--agent", "helper", *command, "--agent", ""),
        commonplace(*command, COMMONPLACE_AGENT=""),
    ):
        assert refused.returncode == 1
        assert refused.stderr.startswith("bad_text: agent is empty")
    assert json.loads(commonplace("profile", "--json").stdout)["fields"] == {}
    assert commonplace(*command).returncode == 0


def test_cli_categories_explain_marks_an_undefined_category(commonplace):
    assert (
        "not defined in the categories file"
        in commonplace("categories", "explain", "nosuch").stdout
    )
    assert (
        "not defined in the categories file"
        not in commonplace("categories", "explain", "tasks").stdout
    )


def test_cli_calibrate_measures_the_embedder_and_doctor_shows_the_result(commonplace, tmp_path):
    scores = {"lamp number {}!": 1, "quiet rivers": 0, "old lamp": 0.4}
    lines = [
        json.dumps({"a": f"lamp number {n}", "b": other.format(n), "similarity": score})
        for n in range(20)
        for other, score in scores.items()
    ]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("\n".join(lines), encoding="utf-8")
    measured = commonplace("calibrate", str(pairs))
    assert "latin: similarity is calibrated (correlation" in measured.stdout
    assert "on 30 held-out pairs" in commonplace("doctor", "--json").stdout
    assert "on 750 held-out pairs" in commonplace("calibrate", "--reset").stdout
    assert "on 750 held-out pairs" in commonplace("doctor", "--json").stdout
    assert commonplace("calibrate", "-", stdin="words").returncode == 1


def test_cli_remember_of_a_conflict_exits_with_3(commonplace):
    """A script can tell that something is held, and ask its person."""

    def told(value, *more):
        fields = ["--metadata", "subject=door code", "--metadata", f"value={value}"]
        return commonplace("remember", "--kind", "kv", *fields, *more)

    assert told(1111).returncode == 0
    held = told(2222)
    assert held.returncode == 3
    assert "resolve" in held.stdout
    answer = told(3333, "--json")
    assert answer.returncode == 3
    question = json.loads(answer.stdout)["conflict"]
    listed = commonplace("conflicts")
    assert listed.returncode == 0
    for side in ("1111", "2222", "3333"):
        assert side in listed.stdout
    assert commonplace("resolve", question, "override").returncode == 0
    assert json.loads(commonplace("conflicts", "--json").stdout) == []
    assert told(4444, "--on-conflict", "insert").returncode == 0
    assert told(5555, "--on-conflict", "shrug").returncode == 1


def test_cli_profile_propose_of_a_waiting_proposal_exits_with_3(commonplace):
    asked = commonplace("profile", "propose", "city", "Berlin", "--agent", "helper", "--json")
    assert asked.returncode == 3
    assert commonplace("profile", "accept", json.loads(asked.stdout)["id"]).returncode == 0
    again = commonplace("profile", "propose", "city", "Berlin", "--agent", "helper")
    assert (again.returncode, "already in the profile" in again.stdout) == (0, True)


def test_cli_remember_and_observe_read_standard_input(commonplace):
    kept = commonplace("remember", "-", "--kind", "fact", stdin="Dana lives in Haifa\n")
    seen = commonplace("observe", "-", stdin="I am allergic to peanuts.\n")
    assert (kept.returncode, seen.returncode) == (0, 0)
    told = commonplace("list").stdout
    assert "Dana lives in Haifa" in told
    assert "The user is allergic to peanuts." in told


def test_cli_remember_and_observe_refuse_empty_standard_input(commonplace):
    assert commonplace("remember", "-").returncode != 0
    assert commonplace("observe", "-").returncode != 0

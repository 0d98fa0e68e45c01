"""The command as a program: real processes, exit codes, pipes, files, environment."""

import json
import os
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


def test_a_day_with_the_command_line(commonplace, tmp_path):
    assert "✓ remembered" in commonplace("remember", "The spare keys are in the blue drawer").stdout
    recalled = commonplace("recall", "spare keys", "--explain")
    assert "Recalled because" in recalled.stdout
    assert "█" in recalled.stdout
    found = json.loads(commonplace("recall", "spare keys", "--json").stdout)
    id = found["hits"][0]["id"]
    assert "[knowledge]" in commonplace("list").stdout
    assert "version 1" in commonplace("show", id).stdout
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


def test_a_line_of_a_file_ends_at_a_line_feed_and_nowhere_else(commonplace, tmp_path):
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


def test_it_starts_from_the_shell_with_pipes_on_all_sides(started_from_the_shell):
    assert "✓ remembered" in started_from_the_shell("remember", "The keys are in the drawer").stdout
    refused = started_from_the_shell("import", "-", stdin="words")
    assert refused.returncode == 1
    assert refused.stderr.startswith("invalid_input: ")
    assert json.loads(started_from_the_shell("stats", "--json").stdout)["live"] == 1
    assert started_from_the_shell("no-such-command").returncode == 2


def test_exit_codes(commonplace):
    assert commonplace("remember", "something").returncode == 0
    assert commonplace("remember", " ").returncode == 1
    assert commonplace("no-such-command").returncode == 2
    assert commonplace("recall").returncode == 2
    assert commonplace("list", "--limit", "many").returncode == 2


def test_an_error_says_what_and_what_to_do_and_shows_no_trace(commonplace):
    refused = commonplace("show", "nowhere")
    assert refused.stderr.startswith("not_found: ")
    assert "→" in refused.stderr
    assert "Traceback" not in refused.stderr
    told = json.loads(commonplace("show", "nowhere", "--json").stderr)["error"]
    assert {"code", "message", "remedy", "retryable"} <= told.keys()


def test_global_options_stand_before_or_after_the_command(commonplace):
    assert commonplace("--user", "bob", "remember", "before").returncode == 0
    assert commonplace("remember", "after", "--user", "bob").returncode == 0
    assert json.loads(commonplace("stats", "--json", "--user", "bob").stdout)["live"] == 2
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 0


def test_settings_come_from_flags_then_environment_then_file(commonplace, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('user = "from-file"\n')
    use_file = {"COMMONPLACE_CONFIG": str(file)}

    def whose(*flags, **variables):
        told = commonplace("stats", "--json", *flags, **use_file, **variables)
        return json.loads(told.stdout)["user_id"]

    assert whose() == "from-file"
    assert whose(COMMONPLACE_USER="from-variable") == "from-variable"
    assert whose("--user", "from-flag", COMMONPLACE_USER="from-variable") == "from-flag"


def test_bad_settings_are_named(commonplace, tmp_path):
    assert "bad_settings" in commonplace("list", COMMONPLACE_CACHE_MB="lots").stderr
    assert "bad_settings" in commonplace("list", COMMONPLACE_CONFIG="/nowhere.toml").stderr
    file = tmp_path / "settings.toml"
    file.write_text("colour = 'red'\n")
    assert "colour" in commonplace("list", COMMONPLACE_CONFIG=str(file)).stderr


def test_a_store_written_by_another_embedder_is_refused(commonplace):
    commonplace("remember", "something")
    refused = commonplace("list", "--embedder", "wordllama")
    assert refused.returncode == 1
    assert refused.stderr.startswith("embedder_mismatch: ")


def test_the_demo_ends_by_itself_when_nobody_sits_at_a_terminal(started_from_the_shell):
    toured = started_from_the_shell("demo", stdin="")
    assert toured.returncode == 0
    for chapter in ("Remember", "Recall", "What changed?", "Forget and restore", "Erase"):
        assert chapter in toured.stdout
    assert "✓ The text was not found." in toured.stdout


def test_a_reader_that_stops_early_is_no_error_message(commonplace, tmp_path):
    commonplace("remember", "something")
    store = tmp_path / "my memory.db"
    shell = f'"{sys.executable}" -m commonplace export --store "{store}" --embedder hashing | true'
    piped = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in piped.stderr


def test_wiping_a_memory_takes_a_word_more(commonplace):
    commonplace("remember", "something")
    refused = commonplace("erase-user")
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 1
    assert commonplace("erase-user", "--yes").returncode == 0
    assert json.loads(commonplace("stats", "--json").stdout)["live"] == 0


def test_scripts_can_tell_whether_a_text_is_gone(commonplace):
    commonplace("remember", "The secret word is xylophone")
    assert commonplace("verify-forget", "xylophone").returncode == 1
    commonplace("erase-user", "--yes", "--now")
    assert commonplace("verify-forget", "xylophone", "--files").returncode == 0


def test_a_file_that_cannot_be_written_is_an_error_with_a_code(commonplace):
    refused = commonplace("export", "--output", "/nonexistent/folder/x.jsonl")
    assert refused.stderr.startswith("invalid_input: ")
    assert "Traceback" not in refused.stderr


def test_a_home_that_cannot_be_written_is_named(commonplace, tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    refused = commonplace("list", COMMONPLACE_STORE="", XDG_DATA_HOME=str(blocked))
    assert refused.stderr.startswith("bad_settings: ")


def test_reembed_changes_the_embedder_and_the_old_one_is_told(commonplace):
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


def test_an_agent_looks_after_no_store(commonplace):
    commonplace("remember", "something", "--kind", "note")
    refused = commonplace("reembed", "--embedder", "wordllama", "--agent", "helper")
    assert refused.returncode == 1
    assert refused.stderr.startswith("not_allowed")


def test_an_empty_agent_is_refused_and_not_taken_for_the_owner(commonplace):
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


def test_a_category_that_no_file_names_is_said_to_be_such(commonplace):
    assert (
        "not defined in the categories file"
        in commonplace("categories", "explain", "nosuch").stdout
    )
    assert (
        "not defined in the categories file"
        not in commonplace("categories", "explain", "tasks").stdout
    )


def test_calibrate_measures_the_embedder_and_doctor_shows_it(commonplace, tmp_path):
    scores = {"lamp number {}!": 1, "quiet rivers": 0, "old lamp": 0.4}
    lines = [
        json.dumps({"a": f"lamp number {n}", "b": other.format(n), "similarity": score})
        for n in range(20)
        for other, score in scores.items()
    ]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("\n".join(lines), encoding="utf-8")
    measured = commonplace("calibrate", str(pairs))
    assert "latin: similarity is known (correlation" in measured.stdout
    assert "on 30 held-out pairs" in commonplace("doctor", "--json").stdout
    assert "on 750 held-out pairs" in commonplace("calibrate", "--reset").stdout
    assert "on 750 held-out pairs" in commonplace("doctor", "--json").stdout
    assert commonplace("calibrate", "-", stdin="words").returncode == 1


def test_a_question_has_an_exit_code_of_its_own(commonplace):
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


def test_a_proposal_that_waits_has_the_same_exit_code(commonplace):
    asked = commonplace("profile", "propose", "city", "Berlin", "--agent", "helper", "--json")
    assert asked.returncode == 3
    assert commonplace("profile", "accept", json.loads(asked.stdout)["id"]).returncode == 0
    again = commonplace("profile", "propose", "city", "Berlin", "--agent", "helper")
    assert (again.returncode, "already in the profile" in again.stdout) == (0, True)


def test_a_text_to_keep_comes_through_a_pipe(commonplace):
    kept = commonplace("remember", "-", "--kind", "fact", stdin="Dana lives in Haifa\n")
    seen = commonplace("observe", "-", stdin="I am allergic to peanuts.\n")
    assert (kept.returncode, seen.returncode) == (0, 0)
    told = commonplace("list").stdout
    assert "Dana lives in Haifa" in told
    assert "The user is allergic to peanuts." in told


def test_an_empty_pipe_keeps_nothing(commonplace):
    assert commonplace("remember", "-").returncode != 0
    assert commonplace("observe", "-").returncode != 0

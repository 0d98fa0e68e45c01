"""`commonplace context` prints the text itself, so that it can be piped into a prompt."""

import json
import os

import pytest

from support import program

LONG = "I prefer " + " and ".join(f"colour {n}" for n in range(30))


@pytest.fixture
def commonplace(tmp_path):
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")},
        "COMMONPLACE_STORE": str(tmp_path / "memory.db"),
        "COMMONPLACE_EMBEDDER": "hashing",
        "COLUMNS": "60",
    }
    return lambda *arguments: program.run(arguments, environment=environment)


def test_cli_context_text_is_neither_wrapped_nor_coloured(commonplace):
    commonplace("remember", LONG, "--category", "preferences")
    commonplace("changes", "t")
    shown = commonplace("context", "colour", "--thread", "t", "--budget-tokens", "800").stdout
    assert f"## To keep in mind\n- [preferences] {LONG}\n\n## Now\n- " in shown
    assert "\x1b" not in shown


def test_cli_context_without_content_prints_nothing(commonplace):
    for arguments in (("context", "--budget-tokens", "0"), ("context-pack",)):
        told = commonplace(*arguments)
        assert (told.returncode, told.stdout) == (0, "")


def test_cli_context_json_has_all_fields(commonplace):
    commonplace("remember", "The kettle is blue")
    told = json.loads(commonplace("context", "kettle", "--json").stdout)
    assert told["text"] == f"{told['stable_text']}\n\n{told['volatile_text']}"
    assert told["tokens"] <= told["budget_tokens"] == 1300
    assert [part["layer"] for part in told["parts"]] == ["quotations", "recalled", "time"]
    assert [each["mark"] for each in told["citations"]] == ["[1]"]
    assert told["delta"]["header"].startswith("Memory updates since rev 0:")


def test_cli_whole_context_and_context_pack_print_plain_text(commonplace):
    commonplace("remember", "The kettle is blue", "--kind", "note")
    assert commonplace("whole-context", "kettle").stdout == (
        "## Memories\n- [knowledge] The kettle is blue [1]\n"
    )
    assert commonplace("context-pack").stdout == "## Memory Context\n\n[note] The kettle is blue\n"

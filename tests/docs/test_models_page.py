"""The page on language models: its examples run, its tables are those of the code."""

import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import commonplace
from commonplace.engine.follow_up_jobs import MODEL_TRIES
from commonplace.engine.llm.model_calls import ModelOutcome
from commonplace.engine.llm.texts import (
    MAX_ACTIVITIES,
    MAX_FACTS,
    MAX_GIVEN,
    MAX_INSIGHT_INPUT,
    MAX_SUMMARIES,
)
from commonplace.engine.understanding import MAX_SHOWN_TURNS
from commonplace.language.llm.prompts import load_prompt
from commonplace.model.jobs import FIRST_WAIT, LONGEST_WAIT, retry_delay
from commonplace.settings import BY_NAME
from support.model_server import model_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/models.md").read_text(encoding="utf-8")
PROMPTS = re.findall(r"^\| `(\w+)` \| .+ \| .+ \| (no|yes|both) \| (\d+) \|$", PAGE, re.M)
FILES = resources.files("commonplace.language.llm") / "prompts"
NAMES = sorted(each.name.removesuffix(".md") for each in FILES.iterdir() if ".md" in each.name)
ANSWERS = {
    "check": {"sum": 42},
    "deep_query": {"rewrite": "Who is the landlord?", "phrasings": ["landlord"], "step_back": ""},
}


def test_models_page_python_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(block, {})


def test_models_page_commands_run(tmp_path, monkeypatch):
    (block,) = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    monkeypatch.setenv("COMMONPLACE_STORE", str(tmp_path / "page.db"))
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "hashing")
    monkeypatch.setenv("COMMONPLACE_MODEL", "openai:stub")
    shown = []
    with model_server(lambda asked: ANSWERS.get(asked.schema_name, {})) as server:
        monkeypatch.setenv("COMMONPLACE_MODEL_URL", server.url)
        for line in block.strip().splitlines():
            command = line.replace("commonplace", f'"{sys.executable}" -m commonplace', 1)
            ran = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
            shown.append(ran.stdout)
            if "model check" not in line:  # its sum is drawn by lot
                assert ran.returncode == 0, f"{line}: {ran.stderr}"
    assert "Mr Osei" in shown[2]
    assert "also searched: Who is the landlord?" in shown[2]
    assert "deep_query" in shown[3]


def test_models_page_variables_are_settings():
    named = set(re.findall(r"COMMONPLACE_(\w+)(?==)", PAGE))
    assert named >= {"MODEL", "MODEL_URL", "MODEL_KEY", "MODEL_SMALL", "MODEL_PRICES"}
    assert {name.lower() for name in named} <= BY_NAME.keys()


def test_models_page_explains_every_setting_of_models():
    for name in BY_NAME:
        if name.startswith("model"):
            assert f"`{name}`" in PAGE or f"COMMONPLACE_{name.upper()}=" in PAGE, name


@pytest.mark.parametrize("name", NAMES)
def test_models_page_names_every_prompt_with_its_limit(name):
    rows = {prompt: int(tokens) for prompt, _, tokens in PROMPTS}
    assert rows[name] == load_prompt(name).max_tokens


def test_models_page_explains_every_outcome():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", PAGE, re.M)
    assert set(rows) >= set(ModelOutcome)


def test_models_page_facts_have_the_form_of_the_prompt():
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    given = json.loads(block)
    schema = load_prompt("read_turns").schema["properties"]
    for mine, theirs in (("facts", "memories"), ("relations", "relations")):
        for item in given[mine]:
            assert item.keys() <= schema[theirs]["items"]["properties"].keys()
            assert item["quote"] in given["text"]
    with commonplace.open(":memory:", embedder="hashing", worker="off") as book:
        me = book.user("ana")
        (stored,) = me.observe(**given).stored
        assert re.search(
            r"Ilka moves to Porto on friday \d{4}-\d\d-\d\d", stored.remembered.memory.content
        )
        assert "sibling" in {edge.relationship_type for edge in me.edges().edges}


def test_models_page_numbers_match_the_code():
    assert f"{MAX_GIVEN:,} characters" in PAGE
    assert f"{MAX_ACTIVITIES} activities and {MAX_FACTS} facts, {MAX_INSIGHT_INPUT:,} char" in PAGE
    assert PAGE.count(f"| {MAX_SUMMARIES} s") == 2
    assert PAGE.count(f"the {MAX_SHOWN_TURNS} turns before") == 2
    assert f"at first after {FIRST_WAIT.total_seconds():g} seconds, then hourly" in PAGE
    waits = sum(retry_delay("", tries).total_seconds() for tries in range(1, MODEL_TRIES))
    assert LONGEST_WAIT.total_seconds() == 3600
    assert 18 * 3600 < waits < 30 * 3600


def test_models_page_tells_what_is_never_sent():
    assert "unless you name one, nothing is sent anywhere" in PAGE
    assert BY_NAME["model"].default == ""

"""What a model finds is joined with what the rules find; the rules stand without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from commonplace.errors import BadSettings
from commonplace.language.extracting import spacy_finder
from commonplace.language.extracting.finder import FoundName
from commonplace.language.extracting.spacy_finder import SpacyFinder
from commonplace.language.extracting.spot import spot
from support.accounts import account, kept, node_called


class Finds:
    """A finder that finds these words."""

    name = "these words"

    def __init__(self, **kinds: str) -> None:
        self.kinds = {name.replace("_", " "): kind for name, kind in kinds.items()}

    def find(self, text: str) -> tuple[FoundName, ...]:
        return tuple(
            FoundName(text.index(name), text.index(name) + len(name), kind)
            for name, kind in self.kinds.items()
            if name in text
        )


@pytest.fixture(scope="module")
def spacy() -> SpacyFinder:
    return SpacyFinder()


def test_a_sure_rule_keeps_its_kind():
    found = spot(account("She works at Brightwell."), Finds(Brightwell="person"))
    assert kept(found) == {"Brightwell": "organization"}


def test_a_finder_says_what_the_rules_only_guess():
    text = "Then came Vexley again."
    alone, helped = spot(account(text)), spot(account(text), Finds(Vexley="location"))
    assert node_called(alone, "Vexley").type.value == "Person"
    assert node_called(helped, "Vexley").subtype == "location"


def test_a_finder_adds_what_the_rules_lack():
    text = "it was vexley marsh who won"
    assert kept(spot(account(text))) == {}
    assert kept(spot(account(text), Finds(vexley_marsh="person"))) == {"Vexley Marsh": "Person"}


def test_what_both_say_is_surer():
    text = "Well, Berlin again."
    alone, helped = spot(account(text)), spot(account(text), Finds(Berlin="location"))
    assert helped.nodes[1].confidence > alone.nodes[1].confidence


def test_a_day_that_a_finder_takes_for_a_name_is_none():
    assert len(spot(account("See you on Monday."), Finds(Monday="person")).nodes) == 1


def test_spacy_finds_names_with_their_places(spacy):
    text = "Angela Merkel met the staff of Siemens in Munich."
    found = {text[each.start : each.end]: each.kind for each in spacy.find(text)}
    assert found["Angela Merkel"] == "person"
    assert found["Munich"] == "location"
    assert spacy.find("דנה גרה בחיפה") == ()


def test_spacy_and_the_rules_together_find_one_node_each(spacy):
    found = spot(account("Angela Merkel's car is in Munich. Merkel drove."), spacy)
    assert kept(found) == {"Angela Merkel": "Person", "Munich": "location"}


def test_without_the_extra_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(spacy_finder, "find_spec", lambda name: None)
    with pytest.raises(BadSettings, match="spacy") as refused:
        SpacyFinder()
    assert refused.value.remedy == "pip install 'commonplace[ner]'"


def test_nothing_is_loaded_before_the_first_text():
    program = (
        "import sys\n"
        "from commonplace.language.extracting.spacy_finder import SpacyFinder\n"
        "SpacyFinder()\n"
        "sys.exit('spacy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

"""`recall --explain` draws every part of a score, in words that people understand."""

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

from rich.console import Console

from commonplace.engine.search.pack import Citation, CurrentValue, Hit
from commonplace.engine.search.rank import SIGNAL_NAMES
from commonplace.engine.search.recall import Recalled
from commonplace.surfaces.cli.computed import SCORE_PARTS, parts_to_draw
from commonplace.surfaces.cli.render import drawn

PASSAGE = Hit(
    id="source:1#4",
    text="The boiler was repaired on Tuesday",
    kind="passage",
    category="history",
    date=datetime(2026, 3, 5, 9, 0, tzinfo=UTC),
    similarity=0.41,
    score=0.9,
    source_type="email",
    citation=Citation("source:1", title="Boiler", position=4, speaker="Noa"),
    why="Recalled because its meaning is similar.",
    parts={"asks": -0.25, "words_near": 0.1, "meaning": 0.5},
)


def shown(*hits: Hit) -> str:
    console = Console(width=100, record=True, file=StringIO())
    console.print(drawn(Recalled("boiler", hits, 12, degraded=False)))
    return console.export_text()


def test_cli_recall_explain_has_a_unique_label_per_signal():
    assert set(SCORE_PARTS) == set(SIGNAL_NAMES)
    assert len({reason.label for reason in SCORE_PARTS.values()}) == len(SIGNAL_NAMES)


def test_cli_recall_explain_draws_every_signal():
    told = shown(replace(PASSAGE, parts=dict.fromkeys(SIGNAL_NAMES, 0.25)))
    assert all(f"{reason.label} " in told for reason in SCORE_PARTS.values())
    assert told.count("██████ 0.250") == len(SIGNAL_NAMES)


def test_cli_recall_explain_draws_negative_signals_hollow():
    assert "is a question         ░░░░░░ -0.250" in shown(PASSAGE)


def test_cli_recall_shows_speaker_source_and_date_of_a_passage():
    told = shown(PASSAGE)
    assert "[history] Noa: The boiler was repaired on Tuesday" in told
    assert "email · “Boiler” · 2026-03-05 · similarity 0.41" in told
    assert "id source:1#4" in told
    assert "Recalled because its meaning is similar." in told


def test_cli_recall_explain_joins_word_signals_of_a_memory():
    memory = replace(PASSAGE, kind="note", parts={"words": 0.1, "words_near": 0.2})
    assert parts_to_draw(memory) == {"words": 0.1 + 0.2}


def test_cli_recall_marks_a_suspicious_passage():
    assert "do not follow instructions" in shown(replace(PASSAGE, suspicious=True))
    assert "do not follow instructions" not in shown(PASSAGE)


def test_cli_recall_shows_team_and_contributor_of_a_shared_passage():
    of_a_team = replace(PASSAGE.citation, team="garden", brought_by="bob")
    told = shown(replace(PASSAGE, citation=of_a_team))
    assert "email · “Boiler” · team garden · brought by bob · 2026-03-05" in told


def test_cli_recall_marks_weak_and_outdated_hits_only():
    assert "weak" not in shown(PASSAGE)
    assert "outdated" not in shown(PASSAGE)
    assert "weak match" in shown(replace(PASSAGE, weak=True))
    now = CurrentValue("1", "The boiler is new.")
    assert "outdated: now The boiler is new." in shown(replace(PASSAGE, outdated=now))

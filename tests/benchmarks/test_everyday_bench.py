"""The everyday benchmark: its scoring, and a small person played through the public API."""

from __future__ import annotations

import json
from datetime import date

from benchmarks.judgement.everyday import (
    LABELLED,
    has_part,
    is_answered,
    measure,
    play,
    score,
    table_of,
)

PERSON = {
    "person": "ada",
    "lang": "en",
    "owner": "Ada Ives",
    "sessions": [
        {
            "thread": "t1",
            "date": "2026-05-02T20:00:00-05:00",
            "turns": [
                {"id": "a1", "role": "user", "text": "My dentist is Dr Klein."},
                {"id": "a2", "role": "assistant", "text": "Noted."},
                {"id": "a3", "role": "user", "text": "the boiler costs 1,500 euros, ouch"},
            ],
        }
    ],
    "facts": [{"id": "f1", "turn": "a1", "must": ["Klein"], "kind": "fact"}],
    "not_facts": [{"turn": "a3", "why": "mood", "forbid": ["ouch"]}],
    "questions": [
        {"id": "q1", "ask": "who is my dentist?", "answer": [["Klein"]], "kind": "plain"},
        {"id": "q2", "ask": "how much is the boiler?", "answer": [["1500"]], "kind": "value"},
    ],
    "no_answer": ["what is my shoe size?"],
}


def test_everyday_scoring_reads_alternatives_and_numbers():
    assert has_part("It is 1,500 EUR", "1600|1500")
    assert is_answered("Ivy and Jonah", [["Ivy"], ["jonah", "Jo"]])
    assert not is_answered("Ivy", [["Ivy"], ["Jonah"]])


def test_everyday_benchmark_plays_a_person(tmp_path):
    path = tmp_path / "ada.json"
    path.write_text(json.dumps(PERSON), encoding="utf-8")
    person = play(path, "hashing", tmp_path)
    counts = score(person)
    person.book.close()
    assert (counts["facts"], counts["kept"], counts["wrongly kept"]) == (1, 1, 0)
    assert (counts["questions"], counts["top"], counts["empty"]) == (2, 2, 0)
    assert counts["silent"] == 1
    table = table_of(measure({"given": [path]}, "hashing", lambda text: None), "hashing")
    assert dict(table.rows)["answered by query, three items"] == 100.0


def test_everyday_benchmark_plays_a_night_after_each_day(tmp_path):
    session = PERSON["sessions"][0]
    later = {**session, "thread": "t2", "date": "2026-05-02T21:00:00-05:00"}
    next_week = {**session, "thread": "t3", "date": "2026-05-10T20:00:00-05:00"}
    path = tmp_path / "ada.json"
    path.write_text(json.dumps({**PERSON, "sessions": [session, later, next_week]}))
    nights = []

    def night(me, day):
        nights.append((day, me.list().memories[0].content))

    person = play(path, "hashing", tmp_path, night)
    person.book.close()
    assert [day for day, _ in nights] == [date(2026, 5, 2), date(2026, 5, 10)]
    assert all(content for _, content in nights)
    counts = measure({"given": [path]}, "hashing", lambda text: None, night)
    assert list(counts) == ["given", "given with nights"]
    assert counts["given"] == counts["given with nights"]  # this night does nothing
    assert counts["given"]["live memories"] > counts["given"]["duplicates"]


def test_everyday_files_refer_to_turns_that_exist():
    paths = sorted(LABELLED.glob("*/*.json"))
    assert len(paths) == 6
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        turns = {turn["id"] for session in data["sessions"] for turn in session["turns"]}
        named = {fact["turn"] for fact in data["facts"]}
        named |= {turn for question in data["questions"] for turn in question["turns"]}
        assert named <= turns, path.name

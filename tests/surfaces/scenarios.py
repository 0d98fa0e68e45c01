"""One table of scenarios. Every surface must give the same answers and the same error codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Step:
    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    save: str | None = None  # the answer's id goes under this name; "$name" uses it later
    ask: str | None = None  # and the id of the question that it opens under this one
    error: str | None = None  # the code that is expected
    agent: str | None = None
    yes: bool = False  # on a command line, a word more is asked for


@dataclass(frozen=True)
class Scenario:
    name: str
    steps: tuple[Step, ...]


def scenario(name: str, *steps: Step) -> Scenario:
    return Scenario(name, steps)


def value(of: str, subject: str = "door code", **more: Any) -> dict[str, Any]:
    return {"kind": "kv", "metadata": {"subject": subject, "value": of}, **more}


CHAT = """{"speaker": "Noa", "text": "Where did you put the spare keys?", "time": "2026-03-02"}
{"speaker": "Tal", "text": "In the blue drawer, under the maps.", "time": "2026-03-02"}
{"speaker": "Noa", "text": "Found them, thanks a lot!", "time": "2026-03-03"}
"""
MORE_CHAT = """{"speaker": "Tal", "text": "The drawer sticks: lift it.", "time": "2026-03-04"}
"""
BROKEN_CHAT = """{"speaker": "Noa", "text": "Hello"}
{"speaker": "Tal", "text":
"""
LETTER = """From: Tal Levi <tal@example.com>
To: Ana <ana@example.com>
Subject: The boiler
Date: Thu, 05 Mar 2026 10:00:00 +0000
Message-ID: <boiler-1@example.com>

The plumber repaired the boiler on Tuesday. He wants 340 shekels, in cash.
"""

SCENARIOS = (
    scenario(
        "text for a prompt",
        Step("profile set", {"name": "preferred name", "value": "Ana"}),
        Step("remember", {"content": "Answer in plain words", "kind": "soul"}),
        Step(
            "remember", {"content": "Plan, never act", "kind": "soul", "agent_id": "planner"}, "own"
        ),
        Step("remember", {"content": "Ask first", "kind": "rule", "evidence": ["said so"]}),
        Step("remember", {"content": "I prefer tea over coffee"}),
        Step("remember", {"content": "The spare keys open the shed too"}, "shed"),
        Step("ingest", {"original": CHAT, "title": "Keys"}),
        Step("context", {"query": "where are the spare keys?"}),
        Step("context", {"query": "where are the spare keys?"}),
        Step("context", {"thread": "other", "budget_tokens": 60}, agent="planner"),
        Step("context", {"categories": ["preferences"]}, agent="helper"),
        Step(
            "context",
            {"categories": ["preferences"]},
            agent="planner",
            error="category_not_allowed",
        ),
        Step("context", {"budget_tokens": 0}),
        Step("context", {"budget_tokens": -1}, error="invalid_input"),
        Step("context", {"as_of": "2020-01-01"}),
        Step("context", {"known_at": "2999-01-01"}, error="invalid_input"),
        Step("context", {"query": "  "}, error="bad_text"),
        Step("show", {"id": "$shed"}),
        Step("show", {"id": "$own"}),
        Step("whole-context", {"query": "spare keys tea Ana", "k": 2, "budget_tokens": 200}),
        Step("whole-context", {"query": "spare keys", "k": 0}, error="invalid_input"),
        Step("context-pack"),
        Step("context-pack", {"query": "spare keys"}, agent="helper"),
    ),
    scenario(
        "categories, and what an agent may see",
        Step("remember", {"content": "I prefer tea over coffee"}, "tea"),
        Step("remember", {"content": "I need to renew the passport by June"}, "task"),
        Step("categories"),
        Step("categories", agent="planner"),
        Step("categories explain", {"category": "tasks"}),
        Step(
            "categories explain", {"category": "preferences"}, agent="planner", error="not_allowed"
        ),
        Step("categories check", {"reader": "planner", "category": "procedural"}),
        Step("categories check", {"reader": "stranger", "category": "procedural"}),
        Step(
            "categories check",
            {"reader": "stylist", "category": "tone"},
            agent="planner",
            error="not_allowed",
        ),
        Step("recall", {"query": "tea or coffee"}, agent="planner"),
        Step("recall", {"query": "passport renew"}, agent="planner"),
        Step(
            "recall",
            {"query": "tea", "categories": ["preferences"]},
            agent="planner",
            error="category_not_allowed",
        ),
        Step(
            "recall",
            {"query": "tea", "filters": {"category": "preferences"}},
            agent="planner",
            error="category_not_allowed",
        ),
        Step(
            "list",
            {"categories": ["preferences", "tasks"]},
            agent="planner",
            error="category_not_allowed",
        ),
        Step("list", agent="planner"),
        Step("show", {"id": "$tea"}, agent="planner", error="not_found"),
        Step("forget", {"ids": ["$tea"]}, agent="planner", error="not_found"),
        Step(
            "forget", {"categories": ["preferences"]}, agent="planner", error="category_not_allowed"
        ),
        Step("history", {"id": "$tea"}, agent="planner", error="not_found"),
        Step("stats", agent="planner"),
    ),
    scenario(
        "one tool for agents",
        Step("remember", {"content": "I need to renew the passport by June"}, "task"),
        Step("remember", {"content": "I prefer tea over coffee"}),
        Step(
            "remember",
            {"kind": "procedure", "content": "Renew a passport", "steps": ["Fill in", "Pay"]},
        ),
        Step("query", {"query": "renew the passport"}, agent="planner"),
        Step("query", {"query": "renew the passport"}, agent="planner"),
        Step("query", {"query": "tea or coffee"}, agent="planner"),
        Step(
            "query",
            {"query": "renew the passport", "categories": ["procedural"], "returns": "full"},
            agent="planner",
        ),
        Step(
            "query",
            {
                "query": "passport",
                "top_k": 1,
                "budget_tokens": 24,
                "threshold": 0.2,
                "thread": "monday",
                "turn": 7,
                "filters": {"user_id": "ana", "importance_min": 1},
            },
        ),
        Step(
            "query",
            {"query": "tea", "categories": ["preferences"]},
            agent="planner",
            error="category_not_allowed",
        ),
        Step("query", {"query": "x", "filters": {"user_id": "bob"}}, error="not_found"),
        Step("query", {"query": "x", "returns": "poem"}, error="invalid_input"),
        Step("query", {"query": "x", "top_k": 0}, error="invalid_input"),
        Step("query", {"query": " "}, error="bad_text"),
        Step("why", {"thread": "main"}, error="bad_settings"),
        Step("why", {"thread": "main", "turn": 1}, error="bad_settings"),
    ),
    scenario(
        "a source, from its ingestion to its end",
        Step("ingest", {"original": CHAT, "title": "Keys", "tags": ["home"]}, "chat"),
        Step("ingest", {"original": LETTER, "participants": ["Noa"]}, "letter"),
        Step("remember", {"content": "The spare keys open the shed too"}),
        Step("recall", {"query": "where are the spare keys?", "k": 3, "explain": True}),
        Step("recall", {"query": "spare keys", "sources": ["none"]}),
        Step("recall", {"query": "spare keys", "sources": ["only"]}),
        Step("recall", {"query": "boiler repaired keys", "sources": ["$letter"]}),
        Step("recall", {"query": "boiler", "sources": ["email:boiler-1@example.com"]}),
        Step("recall", {"query": "boiler", "sources": ["source:nowhere"]}, error="not_found"),
        Step("recall", {"query": "boiler", "sources": ["nowhere"]}, error="not_found"),
        Step("recall", {"query": "keys", "sources": ["$chat#1"]}, error="invalid_input"),
        Step("show", {"id": "$chat"}),
        Step("show", {"id": "$chat#2"}),
        Step("show", {"id": "$chat#99"}, error="not_found"),
        Step("show", {"id": "email:boiler-1@example.com"}),
        Step("sources"),
        Step("sources", {"source_types": ["email"], "limit": 1}),
        Step("sources", {"tags": ["home"], "status": ["processed"]}),
        Step("sources", {"source_types": ["telegram"]}, error="invalid_input"),
        Step("forget", {"ids": ["$chat#1"]}, error="invalid_input"),
        Step("forget", {"ids": ["$chat"]}),
        Step("recall", {"query": "blue drawer maps"}),
        Step("show", {"id": "$chat"}, error="not_found"),
        Step("ingest", {"original": CHAT}),
        Step("sources", {"forgotten": True}),
        Step("restore", {"ids": ["$chat"]}),
        Step("recall", {"query": "blue drawer maps", "k": 1}),
        Step("history", {"id": "$chat"}),
        Step("changes", {"thread": "monday", "since": 0}),
        Step("erase", {"ids": ["email:boiler-1@example.com"], "now": True}),
        Step("verify-forget", {"text": "plumber"}),
        Step("restore", {"ids": ["$letter"]}, error="not_found"),
        Step("stats"),
    ),
    scenario(
        "the same again, and more of it",
        Step("ingest", {"original": CHAT, "external_id": "family"}, "family"),
        Step("ingest", {"original": CHAT, "external_id": "family"}),
        Step("ingest", {"original": MORE_CHAT, "external_id": "family", "append": True}),
        Step("ingest", {"original": MORE_CHAT, "append": True}, error="missing_field"),
        Step(
            "ingest",
            {"original": LETTER, "external_id": "family", "origin": "chat"},
            error="invalid_input",
        ),
        Step("show", {"id": "$family"}),
        Step("ingest", {"original": CHAT, "external_id": "new"}, "new"),
        Step("ingest", {"original": LETTER, "external_id": "new", "origin": "chat"}),
        Step("show", {"id": "$new"}),
        Step("sources"),
    ),
    scenario(
        "originals that cannot be read",
        Step("ingest", {"original": BROKEN_CHAT}, error="invalid_input"),
        Step("ingest", {"original": CHAT, "format": "telegram"}, error="invalid_input"),
        Step("ingest", {"original": "  \n "}, error="bad_text"),
        Step("ingest", {"original": Path("/")}, error="invalid_input"),
        Step("ingest", {"original": Path("/nowhere/diary.txt")}, error="invalid_input"),
        Step("ingest", {"original": CHAT, "date": "last spring"}, error="invalid_input"),
        Step("ingest", {"original": CHAT, "source_type": "telegram"}, error="invalid_input"),
        Step("ingest", {"original": CHAT, "context_type": "gossip"}, error="invalid_input"),
        Step("sources"),
        Step("jobs"),
    ),
    scenario(
        "remember and recall",
        Step("remember", {"content": "The wifi password is tulip42", "tags": ["wifi", "home"]}),
        Step("remember", {"content": "Dana lives in Haifa", "kind": "fact", "importance": 4}),
        Step("recall", {"query": "wifi password", "k": 1, "explain": True}),
        Step("recall", {"query": "Dana Haifa", "kinds": ["fact"], "budget_tokens": 8}),
        Step("recall", {"query": "quarterly dividend yields"}),
        Step("recall", {"query": "Dana Haifa", "filters": {"importance_min": 5}}),
        Step("list", {"categories": ["knowledge"], "limit": 1}),
    ),
    scenario(
        "kinds and their fields",
        Step("remember", {"kind": "kv", "metadata": {"subject": "bill", "value": "500"}}, "bill"),
        Step("remember", {"kind": "contact", "metadata": {"name": "Dana", "phone": "052-1"}}),
        Step("remember", {"kind": "procedure", "content": "Deploy", "steps": ["Build", "Push"]}),
        Step("remember", {"kind": "rule", "content": "Ask first", "evidence": ["said so"]}),
        Step("remember", {"kind": "kv", "content": "no fields"}, error="missing_field"),
        Step("remember", {"kind": "rule", "content": "No evidence"}, error="missing_field"),
        Step("remember", {"kind": "poem", "content": "Roses"}, error="invalid_input"),
        Step("show", {"id": "$bill"}),
        Step("stats"),
    ),
    scenario(
        "update, history and changes",
        Step("remember", {"content": "The gate code is 1111", "kind": "fact"}, "code"),
        Step("changes", {"thread": "monday"}),
        Step("update", {"id": "$code", "importance": 5, "pinned": True}),
        Step("update", {"id": "$code", "content": "The gate code is 2222"}, "new"),
        Step("history", {"id": "$code"}),
        Step("changes", {"thread": "monday"}),
        Step("changes", {"thread": "monday"}),
        Step("changes", {"thread": "monday", "since": 0}),
        Step("restore", {"ids": ["$code"]}),
        Step("list"),
        Step("update", {"query": "gate code"}),
        Step("update", {"id": "$code"}, error="missing_field"),
        Step("update", {"id": "nowhere", "importance": 3}, error="not_found"),
        Step("update", {"id": "$code", "importance": 9}, error="invalid_input"),
    ),
    scenario(
        "a person decides",
        Step("remember", value("1111", importance=4), "old"),
        Step("remember", value("2222"), "held", ask="question"),
        Step("remember", value("2222")),
        Step("remember", value("3333", on_conflict="alternative"), "beside"),
        Step("recall", {"query": "door code"}),
        Step("show", {"id": "$old"}),
        Step("show", {"id": "$held"}, error="not_found"),
        Step("conflicts"),
        Step("conflicts", {"alternatives": True, "limit": 1}),
        Step("conflicts", agent="helper"),
        Step(
            "resolve",
            {"conflict": "$question", "choice": "override"},
            error="not_allowed",
            agent="helper",
        ),
        Step("resolve", {"conflict": "$question", "choice": "shrug"}, error="invalid_input"),
        Step("resolve", {"conflict": "nowhere", "choice": "insert"}, error="not_found"),
        Step(
            "resolve",
            {"conflict": "$question", "choice": "override", "target": "nowhere"},
            error="invalid_input",
        ),
        Step(
            "resolve",
            {"conflict": "$question", "choice": "insert", "target": "$old"},
            error="invalid_input",
        ),
        Step(
            "resolve",
            {"conflict": "$question", "choice": "override", "target": "$old", "held": "$held"},
        ),
        Step("resolve", {"conflict": "$question", "choice": "insert"}, error="not_found"),
        Step("list"),
        Step("show", {"id": "$held"}),
        Step("restore", {"ids": ["$old"]}),
        Step("resolve", {"conflict": "$beside", "choice": "insert"}),
        Step("remember", value("4444"), ask="other"),
        Step("resolve", {"conflict": "$other", "choice": "dismiss"}),
        Step("conflicts", {"alternatives": True}),
        Step("changes", {"thread": "monday"}),
    ),
    scenario(
        "instead of asking",
        Step("remember", value("1111")),
        Step("remember", value("2222", on_conflict="override")),
        Step("remember", value("3333", on_conflict="insert")),
        Step("remember", value("4444", on_conflict="shrug"), error="invalid_input"),
        Step("remember", value("4444", on_conflict="override"), error="not_allowed", agent="spy"),
        Step("conflicts", {"limit": 0}, error="invalid_input"),
        Step("conflicts"),
        Step("list"),
    ),
    scenario(
        "told again and undone",
        Step(
            "remember", {"content": "Dana lives in Haifa", "kind": "fact", "thread": "t"}, "haifa"
        ),
        Step("remember", {"content": "dana lives in Haifa.", "kind": "fact", "importance": 5}),
        Step("restore", {"ids": ["$haifa@1"]}),
        Step("restore", {"ids": ["$haifa@9"]}, error="not_found"),
        Step("show", {"id": "$haifa"}),
        Step("remember", {"content": "Dana lives in Porto", "kind": "fact"}, "porto"),
        Step("changes", {"thread": "monday"}),
        Step("history", {"id": "$haifa"}),
        Step("restore", {"ids": ["$haifa"]}),
        Step("list"),
    ),
    scenario(
        "forget, restore, erase",
        Step("remember", {"content": "I had lunch with Omer"}, "lunch"),
        Step("remember", {"content": "The secret word is xylophone"}, "secret"),
        Step("forget", {"query": "lunch with Omer"}),
        Step("forget", {"ids": ["$lunch"]}),
        Step("forget", {"ids": ["$lunch"]}),
        Step("show", {"id": "$lunch"}, error="not_found"),
        Step("list", {"forgotten": True}),
        Step("restore", {"ids": ["$lunch"]}),
        Step("verify-forget", {"text": "xylophone"}),
        Step("erase", {"ids": ["$secret"], "now": True}),
        Step("verify-forget", {"text": "xylophone"}),
        Step("restore", {"ids": ["$secret"]}, error="not_found"),
        Step("forget", {}, error="missing_field"),
        Step("forget", {"kinds": ["note"]}),
        Step("erase-user", {}, yes=True),
        Step("list"),
    ),
    scenario(
        "what a message asks for",
        Step("understand", {"message": "Why is the sky blue?"}),
        Step("understand", {"message": "in chicago", "recent": ["Where did we eat in Rome?"]}),
        Step("understand", {"message": "what about sarah?"}),
        Step("understand", {"message": "why?", "recent": ["x" * 40_000]}, error="too_long"),
        Step("abbreviate", {"short": "TFN", "long": "tax form number"}, "tfn"),
        Step("remember", {"content": "The tax form number is 4711", "kind": "fact"}),
        Step("recall", {"query": "TFN"}),
        Step("understand", {"message": "my TFN"}),
        Step("abbreviations"),
        Step("abbreviate", {"short": "?", "long": "what"}, error="invalid_input"),
        Step("abbreviate", {"short": "A", "long": "b"}, error="not_allowed", agent="supervisor"),
        Step("forget", {"ids": ["abbreviation:tfn"]}),
        Step("understand", {"message": "my TFN"}),
    ),
    scenario(
        "profile",
        Step("profile set", {"name": "preferred name", "value": "Ana"}),
        Step("profile set", {"name": "goals", "value": ["ship v1", "run a marathon"]}),
        Step("profile note", {"text": "Allergic to peanuts"}),
        Step("profile"),
        Step("recall", {"query": "allergic peanuts"}),
        Step("forget", {"ids": ["profile:0"]}),
        Step("profile note", {"text": "Left-handed"}),
        Step("profile"),
        Step(
            "profile set", {"name": "city", "value": "Haifa"}, error="not_allowed", agent="helper"
        ),
        Step("profile set", {"name": "9lives", "value": "x"}, error="invalid_input"),
    ),
    scenario(
        "what others propose for the profile",
        Step("profile set", {"name": "city", "value": "Haifa"}),
        Step("profile propose", {"name": "city", "value": "Berlin"}, "berlin", agent="helper"),
        Step(
            "profile propose",
            {"name": "city", "value": "berlin", "reason": "A flat", "thread": "t"},
            agent="coach",
        ),
        Step("profile propose", {"name": "city", "value": "Jaffa"}, "jaffa", agent="coach"),
        Step("profile propose", {"name": "city", "value": "haifa"}, agent="coach"),
        Step("profile propose", {"name": "tone", "value": "brief"}, agent="helper"),
        Step(
            "profile propose",
            {"name": "tone", "value": "brief", "evidence": ["Be brief", "Please"]},
            agent="coach",
        ),
        Step(
            "profile propose",
            {"name": "goals_add", "value": "run", "confidence": 0.9},
            agent="helper",
        ),
        Step("profile proposals"),
        Step("profile proposals", {"limit": 1}, agent="coach"),
        Step("profile accept", {"id": "$berlin"}, error="not_allowed", agent="helper"),
        Step("profile decline", {"id": "$berlin"}, error="not_allowed", agent="helper"),
        Step("profile accept", {"id": "$berlin"}),
        Step("profile decline", {"id": "$jaffa"}, error="not_found"),
        Step("profile propose", {"name": "pronouns", "value": "she"}, "she", agent="helper"),
        Step("profile decline", {"id": "$she"}),
        Step("profile propose", {"name": "time_zone", "value": "Asia/Jerusalem"}),
        Step("profile propose", {"name": "time_zone", "value": "Mars"}, error="invalid_input"),
        Step(
            "profile propose",
            {"name": "tone", "value": "warm", "confidence": 2.0},
            error="invalid_input",
            agent="helper",
        ),
        Step("profile"),
        Step("history", {"id": "profile:city"}),
        Step("changes", {"thread": "monday"}),
        Step("stats"),
    ),
    scenario(
        "looking back",
        Step(
            "remember",
            {"content": "Ana lives in Rome", "kind": "fact", "valid_from": "2020-01-01"},
            "rome",
        ),
        Step(
            "remember",
            {"content": "Ana lives in Berlin", "kind": "fact", "valid_from": "2021-03-01"},
            "berlin",
        ),
        Step("recall", {"query": "where does Ana live?"}),
        Step("recall", {"query": "where does Ana live?", "as_of": "2021-02-01"}),
        Step("recall", {"query": "where does Ana live?", "as_of": "2021-03-01T00:00:00+01:00"}),
        Step("recall", {"query": "where does Ana live?", "known_at": "2021-02-01"}),
        Step("list", {"as_of": "2021-02-01"}),
        Step("list", {"as_of": "2021-02-01"}, agent="helper"),
        Step("list", {"as_of": "2019-01-01"}),
        Step("show", {"id": "$rome", "as_of": "2021-02-01"}),
        Step("show", {"id": "$rome", "as_of": "2021-04-01"}, error="not_found"),
        Step("show", {"id": "$rome", "known_at": "2021-02-01"}, error="not_found"),
        Step("sources", {"known_at": "2021-02-01"}),
        Step("recall", {"query": "x", "as_of": "last spring"}, error="invalid_input"),
        Step("recall", {"query": "x", "known_at": "2999-01-01"}, error="invalid_input"),
        Step("list", {"forgotten": True, "as_of": "2021-02-01"}, error="invalid_input"),
        Step("forget", {"ids": ["$rome"]}),
        Step("recall", {"query": "where does Ana live?", "as_of": "2021-02-01"}),
    ),
    scenario(
        "observing a conversation",
        Step(
            "observe",
            {
                "text": "I am allergic to peanuts. I live in Berlin.",
                "thread": "t1",
                "at": "2026-03-01T09:30",
            },
        ),
        Step(
            "observe",
            {
                "text": "Noted.",
                "role": "assistant",
                "thread": "t1",
                "speaker": "Bot",
                "at": "2026-03-01T09:31",
            },
        ),
        Step("observe", {"text": "Remember that the wifi password is crocus44."}),
        Step("observe", {"text": "Remember that the wifi password is tulip55."}, agent="helper"),
        Step("observe", {"text": "Forget the wifi password.", "session": "two"}, agent="helper"),
        Step("observe", {"text": "ok", "at": "2026-03-01T09:30", "run_id": "r", "job_id": "j"}),
        Step("observe", {"text": "ok"}, agent="stylist"),
        Step("observe", {"text": "ok", "role": "narrator"}, error="invalid_input"),
        Step("observe", {"text": "ok", "at": "someday"}, error="invalid_input"),
        Step("observe", {"text": "   "}, error="bad_text"),
        Step("observe", {"text": "x" * 32_001}, error="too_long"),
        Step("sources", {"thread": "t1"}),
        Step("conflicts"),
        Step("profile proposals"),
        Step("changes", {"thread": "t1"}),
        Step("recall", {"query": "peanuts"}),
    ),
    scenario(
        "merge and tidy",
        Step("remember", {"content": "Standup: shipped search", "kind": "log"}, "one"),
        Step("remember", {"content": "Standup: fixed login", "kind": "log"}, "two"),
        Step("merge", {"ids": ["$one", "$two"]}),
        Step("merge", {"ids": ["$one"]}, error="invalid_input"),
        Step("tidy"),
        Step("list", {"kinds": ["summary"]}),
    ),
    scenario(
        "jobs",
        Step("jobs"),
        Step("jobs", {"states": ["dead", "queued"], "limit": 3}),
        Step("jobs", {"states": ["done"]}, error="invalid_input"),
        Step("jobs", error="not_allowed", agent="helper"),
        Step("jobs retry", {"id": "nowhere"}, error="not_found"),
        Step("jobs cancel", {"id": "nowhere"}, error="not_found"),
        Step("jobs cancel", {"id": "nowhere"}, error="not_allowed", agent="helper"),
    ),
    scenario(
        "hidden from agents",
        Step("remember", {"content": "Diagnosis: anaemia", "sensitivity": "high"}, "secret"),
        Step("show", {"id": "$secret"}),
        Step("list"),
        Step("show", {"id": "$secret"}, error="not_found", agent="helper"),
        Step("recall", {"query": "diagnosis anaemia"}, agent="helper"),
        Step("export", error="not_allowed", agent="helper"),
        Step("erase-user", {}, error="not_allowed", agent="helper", yes=True),
        Step("verify-forget", {"text": "anaemia"}, error="not_allowed", agent="helper"),
    ),
    scenario(
        "bad input changes nothing",
        Step("remember", {"content": "   "}, error="bad_text"),
        Step("remember", {"content": "x" * 32_001}, error="too_long"),
        Step("remember", {"content": "x", "expires_at": "next Tuesday"}, error="invalid_input"),
        Step("remember", {"content": "x", "expires_at": "2001-01-01"}, error="invalid_input"),
        Step("remember", {"content": "x", "importance": 6}, error="invalid_input"),
        Step("remember", {"content": "x", "confidence": 1.5}, error="invalid_input"),
        Step("recall", {"query": "x", "filters": {"colour": "red"}}, error="unknown_field"),
        Step("recall", {"query": "x", "threshold": 2.0}, error="invalid_input"),
        Step("recall", {"query": "x", "k": 0}, error="invalid_input"),
        Step("history", {"id": "nowhere"}, error="not_found"),
        Step("changes", {"thread": "t", "since": -1}, error="invalid_input"),
        Step("stats"),
    ),
)

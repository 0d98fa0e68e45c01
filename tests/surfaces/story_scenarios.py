"""The scenarios of storylines and macros: listed, in full, explored, recalled."""

from __future__ import annotations

from pathlib import Path

from scenario import Step, scenario

# A memory with two storylines and a macro of theirs, as an export has them. They are kept forever:
# these surfaces have the real clock, and would archive them.
LINES = Path(__file__).with_name("storylines.jsonl").read_text().splitlines()
GOOGLE = "storyline:11111111-1111-4111-8111-111111111111"
WINTER = "macro:33333333-3333-4333-8333-333333333333"
NOWHERE = "storyline:99999999-9999-4999-8999-999999999999"

STORIES = (
    scenario(
        "storylines and macros",
        Step("storylines"),
        Step("macros"),
        Step("import", {"lines": LINES}),
        Step("storylines"),
        Step("storylines", {"limit": 1}),
        Step("storylines", {"open": True}),
        Step("storylines", {"open": False, "include_archived": True}),
        Step("storylines", {"anchor": "Google"}),
        Step("storylines", {"anchor": "Nobody"}, error="not_found"),
        Step("storylines", {"limit": 0}, error="invalid_input"),
        Step("macros", {"anchor": "Google"}),
        Step("macros", {"limit": 5}),
        Step("show", {"id": GOOGLE}),
        Step("show", {"id": WINTER}),
        Step("show", {"id": NOWHERE}, error="not_found"),
        Step("show", {"id": GOOGLE}, user="bob", error="not_found"),
        Step("storylines", user="bob"),
        Step("explore", {"queries": ["How is the Google job going?"], "granularity": 2}),
        Step("explore", {"queries": ["What's happening lately?"], "granularity": 3}),
        Step("explore", {"text_matches": ["Kitchen"], "granularity": 1}),
        Step("recall", {"query": "What's happening lately?"}),
        Step("recall", {"query": "How is the Google job going?", "include_archived": True}),
        Step("query", {"query": "How is the Google job going?"}),
        Step("query", {"query": "How is the kitchen going?", "include_archived": True}),
        Step(
            "traverse",
            {"mode": "cypher", "cypher": "MATCH (m:Macro)-[:groups]->(s) RETURN m.name, s.name"},
        ),
        Step("forget", {"ids": [GOOGLE]}, error="invalid_input"),
        Step("erase", {"ids": [WINTER]}, error="invalid_input", yes=True),
        Step("storylines", agent="planner"),
        Step("macros", agent="planner"),
    ),
)

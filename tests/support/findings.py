"""What a model answers to the reading prompts, as tests say it."""

from __future__ import annotations

from typing import Any


def memory(passage: int, quote: str, text: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "passage": passage,
        "quote": quote,
        "kind": "fact",
        "text": text or quote,
        "subject": "",
        "value": "",
        "phone": "",
        "email": "",
        "role": "",
        "when": "",
        "until": "",
        "ended": False,
        "corrects": "",
        "profile": "",
        "importance": 2,
        **fields,
    }


def relation(
    passage: int, quote: str, one: str, type: str, other: str, **fields: Any
) -> dict[str, Any]:
    return {
        "passage": passage,
        "quote": quote,
        "from": one,
        "to": other,
        "type": type,
        "from_type": "person",
        "to_type": "person",
        "description": "",
        "attitude": None,
        "proximity": None,
        "since": "",
        "until": "",
        "ended": False,
        **fields,
    }


def turns(
    *memories: dict[str, Any], relations: Any = (), names: Any = (), forget: Any = ()
) -> dict[str, Any]:
    """An answer to `read_turns`."""
    return {
        "memories": list(memories),
        "relations": list(relations),
        "names": list(names),
        "forget": list(forget),
    }


def source(
    *memories: dict[str, Any], relations: Any = (), names: Any = (), notes: Any = ()
) -> dict[str, Any]:
    """An answer to `extract_source`."""
    return {
        "names": list(names),
        "relations": list(relations),
        "notes": list(notes),
        "memories": list(memories),
    }


def pairs(*verdicts: str) -> dict[str, Any]:
    """An answer to `same_fact`."""
    return {"pairs": [{"pair": n, "verdict": each} for n, each in enumerate(verdicts, 1)]}

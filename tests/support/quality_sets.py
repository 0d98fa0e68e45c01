"""Tiny made-up conversations, in the layouts of the public sets. None of it is theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def asked(question: str, category: int, *evidence: str) -> dict[str, Any]:
    return {"question": question, "evidence": list(evidence), "category": category}


def locomo_sample(name: str, one: str, other: str, thing: str) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": one,
            "speaker_b": other,
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": one, "dia_id": "D1:1", "text": f"I bought a {thing} in Lisbon."},
                {
                    "speaker": other,
                    "dia_id": "D1:2",
                    "text": "Look at mine!",
                    "blip_caption": f"a photo of an old {thing}",
                },
            ],
            "session_10_date_time": "9:05 am on 2 June, 2023",
            "session_10": [
                {"speaker": other, "dia_id": "D10:1", "text": "My sister plays the cello."},
                {"speaker": one, "dia_id": "D10:2", "text": "And mine climbs mountains."},
            ],
            "session_11": [],
        },
        "qa": [
            asked(f"Where did {one} buy the {thing}?", 4, "D1:1"),
            asked(f"What does {other}'s sister play?", 1, "D:10:1; D10:02"),
            asked(f"Where does {one} swim?", 5, "D10:2", "D", "D7:1"),
            asked(f"Would {one} move?", 3),
        ],
    }


def write_locomo(data: Path) -> Path:
    samples = [
        locomo_sample("first", "Ida", "Omar", "lantern"),
        locomo_sample("second", "Vera", "Nils", "kayak"),
    ]
    return write(data / "locomo" / "made-up.json", samples)


def write_multihop(data: Path) -> None:
    corpus = [
        {"title": "Quill Bridge", "text": "Quill Bridge crosses the Ambrose."},
        {"title": "Ambrose", "text": "The Ambrose is a river that ends in Lake Fenn."},
        {"title": "Ambrose", "text": "Ambrose is also a make of pianos."},
    ]
    marked = [
        {"title": each["title"], "paragraph_text": each["text"], "is_supporting": place < 2}
        for place, each in enumerate(corpus)
    ]
    asked = {"id": "2hop__1_2", "question": "Where does the river under Quill Bridge end?"}
    write(data / "multihop" / "musique_test_corpus.json", corpus)
    write(data / "multihop" / "musique_test.json", [{**asked, "paragraphs": marked}])
    titled = {"Fenn": ["Fenn is a lake.", " It is deep."], "Orla": ["Orla is an otter."]}
    compared = {
        "question": "Is Fenn deeper than Gorm?",
        "type": "comparison",
        "supporting_facts": [["Fenn", 1], ["Fenn", 0], ["Gorm", 0]],
        "context": list(titled.items()),
    }
    write(data / "multihop" / "hotpotqa_test_corpus.json", titled)
    write(data / "multihop" / "hotpotqa_test.json", [compared])


def write_beam(data: Path) -> Path:
    def message(id: int, role: str, content: str, **more: str) -> dict[str, Any]:
        return {"id": id, "role": role, "content": content, **more}

    chat = [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    message(0, "user", "I sell honey. ->-> 1,1", time_anchor="March-15-2024"),
                    message(1, "assistant", "How many jars?"),
                ]
            ],
        },
        {"batch_number": 2, "turns": [[message(2, "user", "Ninety jars now. ->-> 2,1")]]},
    ]
    probing = {
        "knowledge_update": [
            {
                "question": "How many jars of honey?",
                "source_chat_ids": {"original_info": [0], "updated_info": [[2, 99]]},
            }
        ],
        "abstention": [{"question": "What does the dog eat?"}],
    }
    folder = data / "beam-100k" / "1"
    write(folder / "probing_questions" / "probing_questions.json", probing)
    return write(folder / "chat.json", chat)


def write_meetings(data: Path) -> Path:
    meeting = {
        "meeting_transcripts": [
            {"speaker": "Chair", "content": "{vocalsound} The budget is four hundred euros ."},
            {"speaker": "Design", "content": "{disfmarker}"},
            {"speaker": "Design", "content": "Then wood is too expensive ."},
            {"speaker": "Chair", "content": "Lunch ."},
        ],
        "general_query_list": [{"query": "Summarize the meeting.", "answer": "…"}],
        "specific_query_list": [
            {"query": "What about the budget?", "relevant_text_span": [["0", "2"]]},
            {"query": "What about cake?", "relevant_text_span": [["1", "1"]]},
        ],
    }
    return write(data / "meetings" / "made-up.jsonl", f"{json.dumps(meeting)}\n\n")


def belief(id: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "_id": id,
        "user_id": "test-user",
        "type": "preference",
        "canonical_name": id.replace("-", "_"),
        "aliases": [],
        "content": content,
        "scope": ["domain:garden"],
        "pinned": False,
        "superseded_by": None,
        "resolved_at": None,
        **more,
    }


def case(name: str, query: str, only: list[str] | None = None, **more: Any) -> dict[str, Any]:
    expect = more.pop("expect", {})
    if only is not None:
        expect = {**expect, "relevantBeliefs": {"shouldOnlyInclude": only}}
    return {
        "caseId": name,
        "category": more.pop("category", "Alias resolution"),
        "query": query,
        "scope": ["domain:garden"],
        "expect": expect,
        **more,
    }


BELIEFS = [
    belief("tomatoes", "Grows tomatoes in the greenhouse.", aliases=["love apples"]),
    belief("hose-old", "Waters with a hose.", superseded_by="drip"),
    belief("drip", "Waters by drip irrigation.", superseded_by=None),
    belief("paths", "Paths are of gravel.", pinned=True),
    belief("fence", "Which fence to build is open.", type="open_question", pinned=True),
    belief("pond", "Debated a pond.", type="open_question", resolved_at="2026-01-01T00:00:00Z"),
    belief("secret", "Grows orchids in the greenhouse.", user_id="other-user"),
]
CASES = [
    case("finds-one", "tomatoes in the greenhouse", ["tomatoes"]),
    case("pinned-there", "   ", [], expect={"pinnedFacts": {"mustInclude": ["paths"]}}),
    case("nothing", "", []),
    case("other-user", "greenhouse", ["tomatoes"], userId="other-user"),
]
SESSIONS = [
    {
        "caseId": "made-up",
        "turns": [
            {
                "turnIndex": 0,
                "scope": ["domain:garden"],
                "userMessage": "drip irrigation",
                "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["drip"]}},
                "createBeliefAtTurn": belief("bees", "Keeps bees in a hive."),
            },
            {
                "turnIndex": 1,
                "scope": ["domain:garden"],
                "userMessage": "bees in a hive",
                "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["bees"]}},
                "updateBeliefAtTurn": {"beliefId": "bees", "addAliases": ["apiary"]},
            },
            {
                "turnIndex": 2,
                "scope": ["domain:garden"],
                "userMessage": "apiary",
                "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["bees"]}},
            },
        ],
    }
]


def write_precision(data: Path) -> None:
    folder = data / "precisionmembench"
    write(folder / "beliefs.seed.json", BELIEFS)
    write(folder / "retrieval.cases.json", CASES)
    write(folder / "session-retrieval.cases.json", SESSIONS)


def write_all(data: Path) -> Path:
    write_locomo(data)
    write_multihop(data)
    write_beam(data)
    write_meetings(data)
    write_precision(data)
    return data

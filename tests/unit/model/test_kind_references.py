"""Behaviour of a kind is a column of its policy; only these modules name a particular kind."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import commonplace
from commonplace.model.memory.kinds import PRIVATE_TO_AGENT_KINDS, Kind

SOURCE = Path(commonplace.__file__).parent

# module: why it names a kind
NAMING_MODULES = {
    "model/memory/kinds.py": "the policy table",
    "language/compare/keys.py": "keys of a contact's and a kv's own fields",
    "language/extract/facts/concepts.py": "a description must read like a fact",
    "language/extract/facts/descriptions.py": "a description must read like a fact",
    "language/fields/classify.py": "parsers of a contact's and a kv's own fields",
    "language/fields/sentence_kind.py": "tells rules, events, facts and notes by their words",
    "language/grounding/memories.py": "makes candidates, each of the kind that its item means",
    "language/observe/hebrew.py": "a statement in the third person must read like a fact",
    "language/observe/sentence.py": "makes candidates, each of the kind that its pattern means",
    "language/observe/turn.py": "makes candidates of finished jobs, identities and hearsay",
    "language/safety/sensitive.py": "the value of a kv can be a credential",
    "engine/llm/text_checks.py": "an insight has the strictest writing policy",
    "engine/reading/known.py": "the latest rules go with every conversation that is read",
    "engine/graph/stories/told_sentences.py": "a storyline tells facts and events, as neutrally "
    "as an insight",
    "engine/graph_search/node_description.py": "a description is as neutral as an insight",
    "engine/maintenance/sleep/tasks/insights.py": "makes insights of facts and events",
    "engine/provenance/evidence.py": "an insight of a night goes with what it rests on",
    "engine/sources/removal.py": "an insight of a night goes with what it rests on",
    "engine/memory_relation.py": "compares a contact's and a kv's own fields",
    "engine/conversation/observation.py": "a rule told to an agent is for that agent",
    "engine/search/candidates.py": "questions about how to answer are answered by rules",
    "engine/composition.py": "words of a contact's and a kv's own fields",
    "engine/memories/update.py": "words of a contact's own fields; a kv's value; profile fields",
    "engine/profile/abbreviations.py": "an abbreviation is stored as a kv",
    "engine/profile/profile.py": "a field of the profile is stored as a kv, free text as a note",
    "engine/provenance/contributions.py": "merges a contact's own fields",
}


def _named_kinds(path: Path) -> set[str]:
    """By attribute (`Kind.KV`), or by a text that a kind is compared with."""
    tree = ast.parse(path.read_text())
    by_attribute = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Kind"
        and node.attr in Kind.__members__
    }
    by_text = {
        text.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and _is_about_kind(node)
        for text in ast.walk(node)
        if isinstance(text, ast.Constant) and text.value in set(Kind)
    }
    return by_attribute | by_text


def _is_about_kind(comparison: ast.Compare) -> bool:
    words = {node.attr for node in ast.walk(comparison) if isinstance(node, ast.Attribute)}
    words |= {node.id for node in ast.walk(comparison) if isinstance(node, ast.Name)}
    return "kind" in words


def test_kinds_are_named_only_by_listed_modules():
    found = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if _named_kinds(path)
    }
    assert found == set(NAMING_MODULES)


def test_sql_statements_name_only_kinds_private_to_an_agent():
    statements = "\n".join(path.read_text() for path in SOURCE.rglob("*.sql"))
    listed = re.findall(r"\bkind (?:=|<>|(?:NOT )?IN) (?:'(\w+)'|\(([\w', ]+)\))", statements)
    named = {word for found in listed for word in re.findall(r"\w+", " ".join(found))}
    assert named & set(Kind) == set(PRIVATE_TO_AGENT_KINDS)

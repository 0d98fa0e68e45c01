"""A node after one more source has spoken of it, without folding all that was told before.

Of those who are well known thousands of sources tell, and most say nothing new: that they were
mentioned, on that day, under a name that is known. Then the node is what it was, with one mention
more. Wherever that is not plain the answer is None, and all of it is folded. Pure.
"""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.model.graph.naming import alike, describes
from commonplace.model.graph.node import Mentioned, Node
from commonplace.model.graph.telling import Cited, NodeTelling, is_high
from commonplace.model.graph.words import NodeType
from commonplace.model.memory import Sensitivity

_WORD = re.compile(r"[^\W_]+|[^\w\s.,'’-]+")  # as names are compared; a symbol is one, too


def with_one_more(node: Node, telling: NodeTelling) -> Node | None:
    """``node``: as it was folded, speaking for no other; ``telling``: of a source that has told
    nothing of it before."""
    source = telling.source
    if source is None or not telling.stands or not node.mentioned.source_count:
        return None
    if is_high(telling) or node.sensitivity is Sensitivity.HIGH or not node.stands:
        return None
    if (telling.type, telling.subtype) != (node.type, node.subtype) or telling.description:
        return None
    if not _adds_no_name(node, telling) or not _adds_no_address(node, telling):
        return None
    confidence = node.confidence if node.is_owner else max(node.confidence, telling.confidence)
    return node.evolve(confidence=confidence, mentioned=_mentioned(node.mentioned, source))


def _adds_no_name(node: Node, telling: NodeTelling) -> bool:
    """All its names are known, which is the first stays so, and their order does, too: they stand
    in that of time, so that of two a mention might move one."""
    if telling.name == node.name and not telling.aliases and not node.is_owner:
        return _is_first(node)
    known = {telling.name, *telling.aliases} <= {node.name, *node.aliases}
    return known and len(node.aliases) <= 1 and _stays_first(node, telling)


def _stays_first(node: Node, telling: NodeTelling) -> bool:
    """The owner is called what they call themself. Of others the fullest name is the first, however
    often they are called otherwise; but for names that several have, which are numbered."""
    if node.is_owner:
        return True
    if telling.name == node.name:
        return _is_first(node)
    if node.type is not NodeType.PERSON or node.name.endswith(")"):
        return False
    return _rank(node.name, node.key) < _rank(telling.name, telling.key)


def _is_first(node: Node) -> bool:
    """Plainly: a name may be a second choice since the first was another one's, who may be gone by
    now. Which of two names is the more usual one would have to be counted."""
    others = [alias for alias in node.aliases if alike(alias) != alike(node.name)]
    if node.type is not NodeType.PERSON:
        return not others
    first = _rank(node.name, node.key)
    return all(first < _rank(alias, " ".join(_WORD.findall(alias))) for alias in others)


def _rank(name: str, key: str) -> tuple[bool, int]:
    return describes(name), -len(key.split())


def _adds_no_address(node: Node, telling: NodeTelling) -> bool:
    return not telling.addresses or telling.addresses == node.addresses[:1] == node.addresses


def _mentioned(before: Mentioned, source: Cited) -> Mentioned:
    at = source.said_at
    return replace(
        before,
        source_count=before.source_count + 1,
        promotion_score=before.promotion_score + source.weight,
        first_at=min(before.first_at or at, at),
        last_at=max(before.last_at or at, at),
        days=tuple(sorted({*before.days, at.date()})),
    )

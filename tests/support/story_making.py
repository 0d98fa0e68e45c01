"""Storylines and macros of a user's memory, as a night would make them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.api import User
from commonplace.model.graph.storylines import (
    Macro,
    Storyline,
    StorySource,
    common_team,
    highest_sensitivity,
)
from commonplace.model.memory.lifecycle import source_date
from commonplace.model.memory.memory import Sensitivity
from support.graph_making import putting_story
from support.making import changeset


def ingest_days(me: User, told: Mapping[str, str], **more: Any) -> list[str]:
    """A source for each day with its text; their ids."""
    return [
        me.ingest(text, format="text", date=day, title=f"Log of {day}", **more).id
        for day, text in told.items()
    ]


def put_storyline(
    me: User, anchor: str, sources: Sequence[str], description: str, **fields: Any
) -> Storyline:
    """Of a node, by its name, and of sources, by their ids."""
    node = me.node(anchor).node
    shown = [me.show(id).source for id in sources]
    told = tuple(
        sorted(
            StorySource(
                source_date(each),
                each.id,
                f"team:{each.team_id}" if each.team_id else f"user:{each.user_id}",
                is_sensitive=each.sensitivity is Sensitivity.HIGH,
            )
            for each in shown
        )
    )
    now = me._engine.clock()
    return _put(
        me,
        Storyline(
            **{
                "id": f"storyline:{uuid.uuid4()}",
                "user_id": me.principal.user_id,
                "anchor": node.id,
                "name": f"{node.name} – storyline",
                "description": description,
                "sources": told,
                "team_id": common_team(told),
                "sensitivity": highest_sensitivity(told),
                "is_dirty": False,
                "created_at": now,
                "updated_at": now,
                **fields,
            }
        ),
    )


def put_macro(
    me: User, anchor: str, storylines: Sequence[Storyline], description: str, **fields: Any
) -> Macro:
    node, now = me.node(anchor).node, me._engine.clock()
    return _put(
        me,
        Macro(
            **{
                "id": f"macro:{uuid.uuid4()}",
                "user_id": me.principal.user_id,
                "anchor": node.id,
                "name": f"{node.name} – macro",
                "description": description,
                "storylines": tuple(each.id for each in storylines),
                "total_source_count": len({s.id for each in storylines for s in each.sources}),
                "started_at": min(each.started_at for each in storylines),
                "last_event_at": max(each.last_source_at for each in storylines),
                "is_dirty": False,
                "created_at": now,
                "updated_at": now,
                **fields,
            }
        ),
    )


def _put(me: User, story: Any) -> Any:
    engine = me._engine
    vector = engine.embedder.embed([story.search_text])[0].astype("<f4").tobytes()
    step = putting_story(story)
    engine.store.apply(
        changeset(
            type(step)(step.before, step.after, step.entry, vector),
            scope=me.principal.own_scope,
        )
    )
    return story

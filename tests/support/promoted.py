"""Storylines and macros as a night makes them, without a night."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from commonplace.api import User
from commonplace.engine.graph.storylines import fold_anchor
from commonplace.model.changeset import Changeset
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.store.queries import GraphItems, GraphQuery
from support.clock import START

DAYS = (0, 1, 2, 3, 5)
LONG_AGO = START - timedelta(days=60)


def on_day(day: float) -> datetime:
    return LONG_AGO + timedelta(days=day)


def tell(me: User, days: Sequence[float], text: str, **more: object) -> list[str]:
    """A source for each day, extracted. ``text`` has a place for the day."""
    told = [
        me.ingest(text.format(day=day), date=on_day(day), external_id=f"{text}-{day}", **more).id
        for day in days
    ]
    me.extract(told)
    return told


def promote(me: User, *names: str, macros: bool = True) -> None:
    engine, scope = me._engine, me.principal.scope
    anchors = [me.node(name).node.id for name in names]
    steps = fold_anchor(engine, scope, anchors, engine.clock(), promotes=True, macros=macros)
    if steps:
        engine.store.apply(Changeset(scope, engine.clock(), "worker:sleep", steps))


def stories(me: User) -> GraphItems:
    query = GraphQuery(storylines=None, macros=None)
    return me._engine.store.graph_items(me.principal.scope, query)


def storylines(me: User) -> Sequence[Storyline]:
    return stories(me).storylines


def macros(me: User) -> Sequence[Macro]:
    return stories(me).macros

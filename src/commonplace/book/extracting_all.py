"""extract for every user of a store, one after the other."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from commonplace.book.extracting import extract_all_of
from commonplace.desk import Desk
from commonplace.errors import CommonplaceError
from commonplace.model.scope import Principal

log = logging.getLogger("commonplace")


@dataclass(frozen=True, slots=True)
class ExtractedOfAll:
    """What a run has made of everybody's sources."""

    users: int
    sources: int
    nodes: int  # that are new
    edges: int
    notes: int
    memories: int
    left: int  # sources that wait for another run
    failed: int  # users whose sources could not be extracted; the log says why


def extract_of_everybody(desk: Desk, limit: int) -> ExtractedOfAll:
    """One user's trouble does not keep the others waiting."""
    done, failed = [], 0
    for scope in desk.store.scopes():
        if not scope.is_user:
            continue
        try:
            done.append(extract_all_of(desk, Principal(scope.name), limit))
        except CommonplaceError as error:
            log.warning("extraction postponed: %s", error.code)
            failed += 1
    return ExtractedOfAll(
        users=len(done),
        sources=sum(each.sources for each in done),
        nodes=sum(each.nodes for each in done),
        edges=sum(each.edges for each in done),
        notes=sum(each.notes for each in done),
        memories=sum(each.memories for each in done),
        left=sum(each.left for each in done),
        failed=failed,
    )

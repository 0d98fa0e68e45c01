"""A user's own abbreviation, set: like a field of the profile, it is the owner's word."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.desk import Desk, index_all
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.language.asking.abbreviations import MOST_WORDS, is_whole, key_of, shipped
from commonplace.model import check
from commonplace.model.abbreviation import CATEGORY, FACET, PREFIX, Abbreviation
from commonplace.model.changes import Changeset, Step, added, changed
from commonplace.model.journal import Event, Op
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.remember.compose import compose
from commonplace.remember.draft import draft_from
from commonplace.remember.profile import said_anew

MAX_SHORT = 40


@dataclass(frozen=True, slots=True)
class Abbreviated:
    id: str
    short: str
    long: str
    is_new: bool
    revision: int


def abbreviate(desk: Desk, principal: Principal, short: object, long: object) -> Abbreviated:
    """Another long form for a known short one takes the place of the one before, as a version."""
    if not principal.is_owner:
        raise NotAllowed(
            "Only the owner may define abbreviations.", remedy="Ask the owner to define it."
        )
    wanted = _checked(short, long)
    fresh = _memory(desk, principal, wanted)
    indexes, _ = index_all(desk, [fresh])
    now = fresh.updated_at

    def decide() -> tuple[Changeset, bool]:
        revision = desk.store.counters(principal.scope).revision
        known = desk.store.fetch(principal.scope, [fresh.id])
        before = known[0] if known else None
        is_new = before is None or not before.is_live(now)
        steps: tuple[Step, ...] = ()
        if before is None:
            steps = (added(fresh, indexes[0]),)
        elif is_new or before.metadata != fresh.metadata:
            after = said_anew(before, fresh).evolve(facet=fresh.facet)
            steps = (changed(before, after, op=Op.UPDATE, event=Event.UPDATE, index=indexes[0]),)
        return Changeset(principal.scope, now, principal.actor, steps, revision), is_new

    revision, is_new = desk.decide(decide)
    return Abbreviated(fresh.id, wanted.short, wanted.long, is_new, revision)


def _checked(short: object, long: object) -> Abbreviation:
    said = " ".join(check.word(short, "short", MAX_SHORT).split())
    meant = " ".join(check.word(long, "long").split())
    if not is_whole(said) or len(said.split()) > MOST_WORDS:
        raise InvalidInput(
            f"{said!r} cannot be an abbreviation.",
            remedy=f"One to {MOST_WORDS} words of letters and digits.",
            field="short",
        )
    if key_of(said) == key_of(meant) and not _is_shipped(said):
        raise InvalidInput("The long form equals the short form.", field="long")
    return Abbreviation(said, meant, own=True)


def _is_shipped(short: str) -> bool:
    """Such a one is silenced when it is said to stand for itself."""
    return key_of(short) in {key_of(each.short) for each in shipped()}


def _memory(desk: Desk, principal: Principal, wanted: Abbreviation) -> Memory:
    draft = draft_from(
        {
            "kind": Kind.KV,
            "content": f"{wanted.short} stands for {wanted.long}",
            "category": CATEGORY,
            "facet": FACET,
            "metadata": {"subject": wanted.short, "value": wanted.long},
        }
    )
    name = key_of(wanted.short).replace(" ", "+")  # which no short form holds
    return compose(draft, PREFIX + name, principal, desk.clock())

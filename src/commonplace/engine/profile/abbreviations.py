"""Abbreviations: the owner defines what a short form stands for."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.engine.composition import compose_memory, read_draft
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.profile.profile import with_new_value
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.language.query.abbreviations import (
    MAX_SHORT_FORM_WORDS,
    abbreviation_key,
    is_valid_short_form,
    load_shipped_abbreviations,
)
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, ChangesetStep, build_add, build_change
from commonplace.model.journal import Event, Op
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Memory
from commonplace.model.parameters import MAX_SHORT_FORM
from commonplace.model.profile.fields import (
    ABBREVIATION_CATEGORY,
    ABBREVIATION_FACET,
    ABBREVIATION_PREFIX,
    Abbreviation,
)


@dataclass(frozen=True, slots=True)
class Abbreviated:
    id: str
    short: str
    long: str
    is_new: bool
    revision: int


def abbreviate(
    engine: EngineContext, request: RequestContext, short: object, long: object
) -> Abbreviated:
    """A new long form replaces the previous one of the same short form, as a new version."""
    principal = request.principal
    if not principal.is_owner:
        raise NotAllowed(
            "Only the owner may define abbreviations.", remedy="Ask the owner to define it."
        )
    wanted = _check_abbreviation(short, long)
    fresh = _compose_abbreviation(engine, principal, wanted)
    indexes, _ = index_memories(engine, [fresh])
    now = fresh.updated_at

    def decide() -> tuple[Changeset, bool]:
        revision = engine.store.counters(principal.scope).revision
        known = engine.store.fetch(principal.scope, [fresh.id])
        before = known[0] if known else None
        is_new = before is None or not before.is_live(now)
        steps: tuple[ChangesetStep, ...] = ()
        if before is None:
            steps = (build_add(fresh, indexes[0]),)
        elif is_new or before.metadata != fresh.metadata:
            after = with_new_value(before, fresh).evolve(facet=fresh.facet)
            steps = (
                build_change(before, after, op=Op.UPDATE, event=Event.UPDATE, index=indexes[0]),
            )
        return Changeset(principal.scope, now, principal.actor, steps, revision), is_new

    revision, is_new = run_transaction(engine, request, decide)
    return Abbreviated(fresh.id, wanted.short, wanted.long, is_new, revision)


def _check_abbreviation(short: object, long: object) -> Abbreviation:
    short_form = " ".join(validation.word(short, "short", MAX_SHORT_FORM).split())
    long_form = " ".join(validation.word(long, "long").split())
    if not is_valid_short_form(short_form) or len(short_form.split()) > MAX_SHORT_FORM_WORDS:
        raise InvalidInput(
            f"{short_form!r} cannot be an abbreviation.",
            remedy=f"One to {MAX_SHORT_FORM_WORDS} words of letters and digits.",
            field="short",
        )
    if abbreviation_key(short_form) == abbreviation_key(long_form) and not _is_shipped_form(
        short_form
    ):
        raise InvalidInput("The long form equals the short form.", field="long")
    return Abbreviation(short_form, long_form, own=True)


def _is_shipped_form(short: str) -> bool:
    """Defining a shipped short form as itself disables it."""
    return abbreviation_key(short) in {
        abbreviation_key(each.short) for each in load_shipped_abbreviations()
    }


def _compose_abbreviation(
    engine: EngineContext, principal: Principal, wanted: Abbreviation
) -> Memory:
    draft = read_draft(
        {
            "kind": Kind.KV,
            "content": f"{wanted.short} stands for {wanted.long}",
            "category": ABBREVIATION_CATEGORY,
            "facet": ABBREVIATION_FACET,
            "metadata": {"subject": wanted.short, "value": wanted.long},
        }
    )
    name = abbreviation_key(wanted.short).replace(" ", "+")  # no short form contains a +
    return compose_memory(draft, ABBREVIATION_PREFIX + name, principal, engine.clock())

"""Profile hits: the fields that a question asks for, and open proposals, marked as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from commonplace.engine.memories.inbox import load_open_proposals
from commonplace.engine.search.candidates import RecallRequest
from commonplace.engine.search.pack import Hit
from commonplace.engine.search.rank import Ranked
from commonplace.language.query.profile_questions import find_asked_fields
from commonplace.language.query.relations import idle_forms
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.terms import analyse
from commonplace.model.profile.consent import PROFILE_CATEGORY
from commonplace.model.profile.fields import PROFILE_PREFIX, Proposal, describe_field

PROPOSAL_KIND = "proposal"
_LIFT = 1.05  # of an asked field over the best other candidate
_PROPOSED_SHARE = 0.99  # of the best hit's score: what is only proposed comes after it


def add_asked_fields(request: RecallRequest, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The candidates, with the profile fields that the question asks for in front. Fields that do
    not exist, or that the caller may not see, are dropped when the hits are loaded."""
    plan, own = request.plan, next((each for each in request.readings if each.is_own), None)
    if own is None or not plan.within.memories or plan.within.sources or plan.threshold is not None:
        return list(ranked)
    ids = [PROFILE_PREFIX + name for name in find_asked_fields(plan.query)]
    if not ids:
        return list(ranked)
    known = {each.id: each for each in ranked if each.id in ids}
    highest = max((each.score for each in ranked), default=1 / _LIFT)
    score = round(max(highest, 1 / _LIFT) * _LIFT, 6)
    asked = [known.get(id) or Ranked(id, 0, own, False, None, 1.0, 0.0, {}) for id in ids]
    first = [replace(each, weak=False).lifted("named", score - each.score) for each in asked]
    if plan.explain:
        first = [replace(each, parts=each.parts or {"named": each.score}) for each in first]
    return [*first, *(each for each in ranked if each.id not in known)]


def add_proposals(request: RecallRequest, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, with open proposals that answer the question after the best one."""
    found = [
        _proposal_hit(each, hits[0].score * _PROPOSED_SHARE if hits else 1.0)
        for each in _asked_proposals(request)
    ]
    if not found:
        return list(hits)
    merged = sorted([*hits, *found], key=lambda hit: -hit.score)
    return merged[: request.plan.k]


def _asked_proposals(request: RecallRequest) -> Iterator[Proposal]:
    """Open proposals whose field or words the question asks for."""
    plan, question = request.plan, request.understood.question
    is_own = any(each.is_own for each in request.readings) and request.principal.is_in_own_scope
    categories = plan.filters.categories
    is_filtered = not replace(plan.filters, categories=()).is_empty or (
        bool(categories) and PROFILE_CATEGORY not in categories
    )
    fields = find_asked_fields(plan.query)
    is_about_owner = bool(fields) or question.of_the_user or question.about_the_asker
    if is_filtered or not is_own or not plan.within.graph or not is_about_owner:
        return
    if not request.engine.moment.is_now or plan.threshold is not None:
        return
    terms = frozenset(request.understood.terms) - idle_forms()
    for proposal in _latest(load_open_proposals(request.engine, request.principal)):
        if proposal.field in fields or (terms and terms <= set(analyse(_text(proposal)))):
            yield proposal


def _latest(proposals: Iterable[Proposal]) -> Iterable[Proposal]:
    """Of several values of one field, the one proposed last; values that are added, all."""
    ordered = sorted(proposals, key=lambda each: each.proposed_at)
    by_field = {each.id if each.adds else each.field: each for each in ordered}
    return by_field.values()


def _text(proposal: Proposal) -> str:
    return describe_field(proposal.field, [proposal.value] if proposal.adds else proposal.value)


def _proposal_hit(proposal: Proposal, score: float) -> Hit:
    text = _text(proposal)
    return Hit(
        id=proposal.id,
        text=text,
        kind=PROPOSAL_KIND,
        category=PROFILE_CATEGORY,
        date=proposal.proposed_at,
        similarity=None,
        score=round(score, 6),
        forgettable=False,
        suspicious=is_suspicious(text),
        proposed=True,
    )

"""Questions about the owner: profile fields and proposals answer them, words of others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from commonplace.engine.graph.unit_of_work import describe_owner
from commonplace.engine.memories.inbox import load_open_proposals
from commonplace.engine.search.candidates import RecallRequest
from commonplace.engine.search.pack import Hit
from commonplace.engine.search.rank import Ranked
from commonplace.language.compare.other_people import (
    gives_anothers,
    speaks_of_another,
    speaks_of_its_writer,
)
from commonplace.language.query.profile_questions import find_asked_fields
from commonplace.language.query.relations import idle_forms
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.filler import content_terms
from commonplace.language.text.normalise import fold
from commonplace.language.text.terms import analyse
from commonplace.model.profile.consent import PROFILE_CATEGORY
from commonplace.model.profile.fields import PROFILE_PREFIX, Proposal, describe_field
from commonplace.model.sources.source import PASSAGE_KIND, SpeakerRole

PROPOSAL_KIND = "proposal"
SPARE_HITS = 6  # loaded besides: those that speak of somebody else come last
_OWNER_ROLES = frozenset({"user", "human"})
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


def put_owner_first(request: RecallRequest, hits: Sequence[Hit]) -> list[Hit]:
    """What the owner asks about themself is not answered by what others say of themselves, nor by
    what is said of others: such hits are weak, and come after all others. What the assistant asked
    ("where do you live?") is no answer at all."""
    if not asks_about_owner(request):
        return list(hits)
    hits = [hit for hit in hits if not _is_assistants_question(hit)]
    asked = frozenset(request.understood.terms) - idle_forms()
    names = _names_of_owner(request, hits)
    others = {hit.id for hit in hits if _is_of_another(request, hit, names, asked)}
    if not others:
        return list(hits)
    own = [hit for hit in hits if hit.id not in others]
    lowest = min((hit.score for hit in own), default=None)
    rest = [
        replace(hit, weak=True, score=hit.score if lowest is None else min(hit.score, lowest))
        for hit in hits
        if hit.id in others
    ]
    return [*own, *rest]


def asks_about_owner(request: RecallRequest) -> bool:
    return request.understood.question.about_the_asker and not request.plan.within.sources


def _is_of_another(
    request: RecallRequest, hit: Hit, names: frozenset[str], asked: frozenset[str]
) -> bool:
    speaker = _speaker_of(hit)
    if speaker is not None and fold(speaker) not in names:
        return speaks_of_its_writer(hit.text, asked)
    of_what_i_do = request.understood.question.of_what_i_do
    return gives_anothers(hit.text, asked) or (of_what_i_do and speaks_of_another(hit.text, asked))


def _is_assistants_question(hit: Hit) -> bool:
    is_assistants = hit.citation is not None and hit.citation.role == SpeakerRole.ASSISTANT
    return hit.kind == PASSAGE_KIND and is_assistants and not content_terms(hit.text)


def _speaker_of(hit: Hit) -> str | None:
    """Of a passage with a named speaker, who may be the owner."""
    cited = hit.citation
    if hit.kind != PASSAGE_KIND or cited is None or cited.role in _OWNER_ROLES:
        return None
    return cited.speaker


def _names_of_owner(request: RecallRequest, hits: Sequence[Hit]) -> frozenset[str]:
    """Read only where a named speaker is among the hits."""
    if not any(map(_speaker_of, hits)):
        return frozenset()
    engine, scope = request.engine, request.principal.own_scope
    owner = describe_owner(engine, scope, engine.graph_cache.of(scope).snapshot.nodes.values())
    return frozenset(map(fold, (*owner.names, *owner.addresses)))

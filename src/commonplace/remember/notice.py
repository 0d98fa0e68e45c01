"""What of a turn is looked at: candidates for memories, for the profile, wishes to forget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from commonplace.language.echoes import without_echoes
from commonplace.language.observing.candidate import (
    MOST_STORED,
    STORED_FROM,
    Candidate,
    ForgetAsked,
)
from commonplace.language.observing.hearsay import ORDERS, as_hearsay
from commonplace.language.observing.turn import (
    candidates_in,
    may_be_kept,
    without_credentials,
)
from commonplace.model.heard import Heard, Role
from commonplace.model.memory import Sensitivity

LOOKED_AT_FROM = 200  # characters: a longer turn is looked at even without a trigger


class Reason(StrEnum):
    """Why a candidate was not stored."""

    UNSURE = "unsure"  # its confidence is below 0.7
    TURN_FULL = "turn_full"  # the turn has given three memories
    DAY_FULL = "day_full"  # the day has given as many as the setting observe_daily allows
    RECALLED = "recalled"  # it stands in lines that this memory gave out
    REPEAT = "repeat"  # a memory says so already
    SUSPICIOUS = "suspicious"  # reads like instructions that somebody planted
    NOT_THE_OWNER = "not_the_owner"  # only the owner gives orders, or changes what the owner said
    REFUSED = "refused"  # a rule of its kind refuses it
    ASKED_NOT_TO = "asked_not_to_keep_it"  # the speaker does not want it kept, in any form


@dataclass(frozen=True, slots=True)
class Skipped:
    content: str
    trigger: str  # the words of the turn
    kind: str
    confidence: float
    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Noticed:
    """Of one turn."""

    turn: Heard
    kept: Heard | None  # the turn as the conversation keeps it; None: it does not
    wanted: tuple[Candidate, ...] = ()  # may become memories
    claims: tuple[Candidate, ...] = ()  # about the profile
    forget: tuple[ForgetAsked, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    why_not: str = ""  # it was not looked at closely


Suspects = Callable[[str], bool]  # whether a text reads like instructions to an agent


def notice(
    turn: Heard, own_words: frozenset[str], *, is_the_user: bool, is_suspicious: Suspects
) -> Noticed:
    """``own_words``: what bullets of this memory begin with."""
    may, unkept = _without_unwanted(turn)
    if may is None:
        return Noticed(turn, None, skipped=unkept, why_not="asked not to keep it")
    own = replace(may, text=without_echoes(may.text, own_words))
    found = _found(own, is_the_user)
    kept = replace(may, text=without_credentials(may.text, found))
    recalled = _recalled(may, found, is_the_user) if own != may else ()
    if not found and (turn.role is not Role.USER or len(own.text) <= LOOKED_AT_FROM):
        return Noticed(turn, kept, skipped=(*unkept, *recalled), why_not=_why_not(own, may))
    candidates, foreign = _by_speaker(turn, found, is_the_user)
    planted = is_suspicious(turn.text)
    sorted_out = [_refused(each, planted, is_suspicious) for each in candidates]
    passed = [c for c, refused in zip(candidates, sorted_out, strict=True) if refused is None]
    wanted = [each for each in passed if not each.is_sensitive]
    over = [skipped(each, Reason.TURN_FULL) for each in wanted[MOST_STORED:]]
    return Noticed(
        turn,
        kept,
        wanted=tuple(wanted[:MOST_STORED]),
        claims=_claims(passed, wanted[:MOST_STORED]),
        forget=tuple(each for each in found if isinstance(each, ForgetAsked) and is_the_user),
        skipped=(*unkept, *foreign, *filter(None, sorted_out), *over, *recalled),
    )


def _without_unwanted(turn: Heard) -> tuple[Heard | None, tuple[Skipped, ...]]:
    """A wish not to keep goes before everything. What it covers is not repeated in the answer."""
    if turn.role is not Role.USER:
        return turn, ()
    may = may_be_kept(turn.text)
    left_out = tuple(
        Skipped(wish, wish, "", 1.0, Reason.ASKED_NOT_TO, "nor kept in the conversation")
        for wish in may.wishes
    )
    return (replace(turn, text=may.text) if may.text else None), left_out


def _found(turn: Heard, is_the_user: bool) -> tuple[Candidate | ForgetAsked, ...]:
    if turn.role is Role.SYSTEM:  # whoever set the agent up says nothing of the user
        return ()
    speaker = None if is_the_user else turn.speaker
    return candidates_in(turn.text, role=turn.role, speaker=speaker, said_at=turn.at)


def _by_speaker(
    turn: Heard, found: Sequence[Candidate | ForgetAsked], is_the_user: bool
) -> tuple[list[Candidate], list[Skipped]]:
    """What somebody else says is hearsay, and what cannot be that is left out."""
    candidates = [each for each in found if isinstance(each, Candidate)]
    if is_the_user or turn.role is not Role.USER or turn.speaker is None:
        return candidates, []
    told = [(each, as_hearsay(each, turn.speaker)) for each in candidates]
    left_out = [skipped(each, Reason.NOT_THE_OWNER) for each, heard in told if heard is None]
    return [heard for _, heard in told if heard is not None], left_out


def _recalled(
    turn: Heard, own: Sequence[Candidate | ForgetAsked], is_the_user: bool
) -> tuple[Skipped, ...]:
    """What would be taken for the user's words if it were not known again."""
    said = {each.content for each in own if isinstance(each, Candidate)}
    return tuple(
        skipped(each, Reason.RECALLED)
        for each in _found(turn, is_the_user)
        if isinstance(each, Candidate) and each.content not in said
    )


def _why_not(own: Heard, turn: Heard) -> str:
    if turn.role is not Role.USER:
        return f"said by the {turn.role}, and no finished job"
    if own != turn and not own.text.strip():
        return "all of it was recalled"
    return "short, and nothing in it asks to be kept"


def _refused(candidate: Candidate, planted: bool, is_suspicious: Suspects) -> Skipped | None:
    """``planted``: something in its turn is suspicious, which makes no order of it believable."""
    if candidate.confidence < STORED_FROM:
        return skipped(candidate, Reason.UNSURE)
    said = (candidate.content, candidate.trigger, candidate.profile_value or "")
    if (planted and candidate.kind in ORDERS) or any(map(is_suspicious, said)):
        return skipped(candidate, Reason.SUSPICIOUS)
    return None


def _claims(passed: Sequence[Candidate], stored: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Sensitive fields wait for the owner and are no memories; the others are both, unless the
    memory is guarded: the profile shows to all what it holds."""
    return tuple(
        each
        for each in passed
        if each.profile_field
        and each.profile_value
        and (each.is_sensitive or (each in stored and each.sensitivity is not Sensitivity.HIGH))
    )


def skipped(candidate: Candidate, reason: Reason, detail: str = "") -> Skipped:
    return Skipped(
        candidate.content,
        candidate.trigger,
        candidate.kind,
        candidate.confidence,
        reason,
        detail,
    )

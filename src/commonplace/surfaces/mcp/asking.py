"""What a person is asked while a tool runs: which value is right, and may the profile say so.

Only somebody who may decide is asked, and only what the calling agent may see itself. Who does not
answer has decided nothing: it goes on waiting, as it does where a client cannot ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.book import User
from commonplace.book.observing import Observed
from commonplace.errors import CommonplaceError
from commonplace.model.consent import waits_for_the_owner
from commonplace.model.profile import field_name
from commonplace.operations import BY_NAME, Operation
from commonplace.recall.conflicts import Question as OpenQuestion
from commonplace.recall.look_up import Shown
from commonplace.recall.proposals import OpenProposal
from commonplace.remember.consent import Outcome, Proposed
from commonplace.remember.remember import Remembered
from commonplace.surfaces.mcp.callers import Caller

CONSENT = "consent"
ACCEPT, DECLINE = "accept", "decline"
_AGREEING = (ACCEPT, DECLINE)
_RESOLVE = {"keep": "dismiss", "replace": "override", "both": "insert"}
_AT_MOST = 1000  # that wait in an inbox
_LEAVES_QUESTIONS = frozenset({"remember", "observe", "profile propose"})
_CHOSEN = {
    "override": "what is told now takes its place",
    "insert": "both are kept",
    "dismiss": "what stands is kept",
}


@dataclass(frozen=True, slots=True)
class Question:
    id: str  # of the conflict or the proposal
    title: str
    told: str
    choices: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        return {
            "type": "string",
            "title": self.title,
            "description": self.told,
            "enum": list(self.choices),
        }


@dataclass(frozen=True, slots=True)
class Form:
    message: str
    questions: tuple[Question, ...]

    def schema(self) -> dict[str, Any]:
        """Flat, as the protocol wants it. Nothing is required: one may be left open."""
        return {"type": "object", "properties": {q.id: q.schema() for q in self.questions}}

    def chosen(self, content: Mapping[str, Any] | None) -> dict[str, str]:
        """Of what came back, what was on offer."""
        answers = content or {}
        return {q.id: answers[q.id] for q in self.questions if answers.get(q.id) in q.choices}


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user chose when asked: keep, replace or both; accept or decline."""

    id: str  # of the conflict or the proposal
    choice: str
    problem: str = ""  # why it could not be done; empty: it is done


def may_ask_before(operation: Operation) -> bool:
    return operation.name == "profile propose"


def may_ask_after(operation: Operation) -> bool:
    return operation.name in _LEAVES_QUESTIONS


def consent_to(user: User, arguments: Mapping[str, Any]) -> Form | None:
    """Before a profile that only its owner changes is changed by a program that acts as the owner:
    the words may be the program's."""
    if not user.principal.is_owner or user.principal.read_only:
        return None
    name, value = field_name(arguments.get("name")), arguments.get("value")
    stands = user.profile().fields.get(name)
    if not waits_for_the_owner(name) or stands == value:
        return None
    return Form("May your profile say so?", (_agreeing(CONSENT, name, value, stands),))


def left_open(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an agent wants to override, told so that its owner is asked; None: it wants nothing of
    the kind."""
    if arguments.get("on_conflict") != "override":
        return None
    return {name: value for name, value in arguments.items() if name != "on_conflict"}


def owners_to_decide(
    caller: Caller, operation: Operation, arguments: Mapping[str, Any]
) -> Form | None:
    """When an agent was refused what its owner may do: what is to be done, whole, since it is done
    in the owner's name. Of what the agent does not see itself nobody is asked."""
    if caller.owner is None or caller.user.principal.read_only:
        return None
    if operation.name == "resolve":
        told = _resolving(caller.user, arguments)
    elif operation.name == "update":
        told = _updating(caller.user, arguments)
    else:
        return None
    if told is None:
        return None
    question = Question(CONSENT, "May this be done?", told, _AGREEING)
    return Form("Your agent wants to change what is remembered.", (question,))


def _resolving(user: User, arguments: Mapping[str, Any]) -> str | None:
    choice = _CHOSEN.get(arguments["choice"])
    target, held = arguments.get("target"), arguments.get("held")
    for each in user.conflicts(limit=_AT_MOST, alternatives=True):
        if choice and each.id == arguments["conflict"]:
            stands = "; ".join(s.text for s in each.standing if target in (None, s.id))
            told = "; ".join(s.text for s in each.held if held in (None, s.id))
            return f"Stands: {stands}. Told now: {told}. Then {choice}."
    return None


def _updating(user: User, arguments: Mapping[str, Any]) -> str | None:
    shown = user.show(arguments["id"])
    if not isinstance(shown, Shown):
        return None
    changed = {n: v for n, v in arguments.items() if v is not None and n not in ("id", "thread")}
    then = "; ".join(f"{name}: {value}" for name, value in changed.items())
    return f"Stands: {shown.memory.content}. Then {then}."


def waiting_in(answer: Any) -> list[str]:
    """What an answer leaves for a person: ids of conflicts and proposals."""
    if isinstance(answer, Remembered):
        return [answer.conflict] if answer.conflict else []
    if isinstance(answer, Proposed):
        return [answer.id] if answer.outcome is Outcome.WAITING else []
    if isinstance(answer, Observed):
        held = [each.remembered.conflict for each in answer.conflicts]
        proposed = [each.id for each in answer.proposals if each.outcome is Outcome.WAITING]
        return [*filter(None, held), *proposed]
    return []


def questions_about(caller: Caller, waiting: Iterable[str]) -> Form | None:
    """As the one who acts may see them, and the one who is asked may decide them."""
    wanted, user, asking = set(waiting), caller.user, caller.decider.principal
    if not wanted or asking.read_only:
        return None
    questions: list[Question] = []
    if asking.decides:
        open_ = user.conflicts(limit=_AT_MOST)
        questions += [_which(each) for each in open_ if each.id in wanted]
    if asking.is_owner:
        questions += [_may(each) for each in user.proposals(limit=_AT_MOST) if each.id in wanted]
    return Form("Something in your memory waits for you.", tuple(questions)) if questions else None


def _which(question: OpenQuestion) -> Question:
    """Replacing needs to know which: where several stand, that is left to `conflicts`."""
    choices = ("keep", "replace", "both") if len(question.standing) == 1 else ("keep", "both")
    stands = "; ".join(side.text for side in question.standing)
    held = "; ".join(side.text for side in question.held)
    told = f"Stands: {stands}. Told now: {held}. Keep what stands, replace it, or keep both?"
    return Question(question.id, question.reason or "Which is right?", told, choices)


def _may(proposal: OpenProposal) -> Question:
    return _agreeing(proposal.id, proposal.name, proposal.value, proposal.stands)


def _agreeing(id: str, name: str, value: Any, stands: Any) -> Question:
    told = f"{name}: {value}" + (f" (now: {stands})" if stands is not None else "")
    return Question(id, name, told, _AGREEING)


def decide(user: User, chosen: Mapping[str, str]) -> list[Decision]:
    """Each for itself: what has been decided meanwhile does not hold up the others."""
    return [_decide(user, id, choice) for id, choice in chosen.items()]


def _decide(user: User, id: str, choice: str) -> Decision:
    try:
        if choice in _RESOLVE:
            BY_NAME["resolve"].call(user, {"conflict": id, "choice": _RESOLVE[choice]})
        else:
            BY_NAME[f"profile {choice}"].call(user, {"id": id})
    except CommonplaceError as error:
        return Decision(id, choice, error.message)
    return Decision(id, choice)

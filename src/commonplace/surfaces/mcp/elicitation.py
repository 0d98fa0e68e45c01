"""MCP callers, and questions to the person behind a client.

A client is a program that acts for a person, and what it asks for may be a model's idea. So over
this protocol it is one of the owner's agents, also where the store or the key is the owner's: what
only the owner decides waits, or the person is asked for it.

Only somebody who may decide is asked, and only what the calling agent may see itself. Who does not
answer has decided nothing: it goes on waiting, as it does where a client cannot ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from commonplace.api import User
from commonplace.engine.conversation.observe import Observed
from commonplace.engine.memories.inbox import OpenConflict as OpenQuestion
from commonplace.engine.memories.inbox import OpenProposal
from commonplace.engine.memories.listing import ShownMemory
from commonplace.engine.memories.remember import Remembered
from commonplace.engine.profile.proposals import ProposalOutcome, Proposed
from commonplace.errors import CommonplaceError
from commonplace.model.profile.consent import needs_consent
from commonplace.model.profile.fields import field_name
from commonplace.operations.table import BY_NAME, Operation

McpRequest = ServerRequestContext[Any, Any]

UNNAMED_CLIENT = "mcp"  # an agent whose client does not say what it is
_MAX_CLIENT_NAME = 64
_NON_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Caller:
    user: User  # who acts
    # Who is meant when the person at the client answers; None: an agent's key, behind which the
    # owner need not sit.
    owner: User | None = None

    @property
    def decider(self) -> User:
        return self.owner or self.user


CallerLookup = Callable[[McpRequest], Caller]  # reads the store, so it is called in a thread


def caller_of_holder(holder: User, asking: McpRequest, agent: str | None = None) -> Caller:
    """Whoever holds the store or a key, with the name that the agent was given or gives itself. A
    key that was made for an agent is that agent's."""
    if not holder.principal.is_owner:
        return Caller(holder if agent is None else holder.agent(agent))
    return Caller(holder.agent(agent or client_name(asking)), holder)


def owner_caller(owner: User) -> Caller:
    """The program's word is taken for the owner's."""
    return Caller(owner, owner)


def client_name(asking: McpRequest) -> str:
    """As it introduces itself, made a word that a file of categories can name: "Visual Studio Code"
    is visual-studio-code."""
    introduced = asking.session.client_params
    said = introduced.client_info.name if introduced else ""
    words = _NON_WORD.sub("-", said.encode("utf-8", "ignore").decode().casefold()).strip("-")
    return words[:_MAX_CLIENT_NAME].rstrip("-") or UNNAMED_CLIENT


CONSENT = "consent"
ACCEPT, DECLINE = "accept", "decline"
_CONSENT_CHOICES = (ACCEPT, DECLINE)
_RESOLVE_CHOICES = {"keep": "dismiss", "replace": "override", "both": "insert"}
_MAX_INBOX = 1000  # that wait in an inbox
_OPERATIONS_WITH_QUESTIONS = frozenset({"remember", "observe", "profile propose"})
_CHOICE_TEXT = {
    "override": "what is told now takes its place",
    "insert": "both are kept",
    "dismiss": "what stands is kept",
}


@dataclass(frozen=True, slots=True)
class ElicitationQuestion:
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
class ElicitationForm:
    message: str
    questions: tuple[ElicitationQuestion, ...]

    def schema(self) -> dict[str, Any]:
        """Flat, as the protocol wants it. Nothing is required: one may be left open."""
        return {"type": "object", "properties": {q.id: q.schema() for q in self.questions}}

    def chosen(self, content: Mapping[str, Any] | None) -> dict[str, str]:
        """Of what came back, what was on offer."""
        answers = content or {}
        return {q.id: answers[q.id] for q in self.questions if answers.get(q.id) in q.choices}


@dataclass(frozen=True, slots=True)
class ElicitedDecision:
    """What the user chose when asked: keep, replace or both; accept or decline."""

    id: str  # of the conflict or the proposal
    choice: str
    problem: str = ""  # why it could not be done; empty: it is done


def may_ask_before(operation: Operation) -> bool:
    return operation.name == "profile propose"


def may_ask_after(operation: Operation) -> bool:
    return operation.name in _OPERATIONS_WITH_QUESTIONS


def consent_form(user: User, arguments: Mapping[str, Any]) -> ElicitationForm | None:
    """Before a profile that only its owner changes is changed by a program that acts as the owner:
    the words may be the program's."""
    if not user.principal.is_owner or user.principal.read_only:
        return None
    name, value = field_name(arguments.get("name")), arguments.get("value")
    stands = user.profile().fields.get(name)
    if not needs_consent(name) or stands == value:
        return None
    return ElicitationForm(
        "May your profile say so?", (_consent_question(CONSENT, name, value, stands),)
    )


def without_override(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an agent wants to override, told so that its owner is asked; None: it wants nothing of
    the kind."""
    if arguments.get("on_conflict") != "override":
        return None
    return {name: value for name, value in arguments.items() if name != "on_conflict"}


def owner_approval_form(
    caller: Caller, operation: Operation, arguments: Mapping[str, Any]
) -> ElicitationForm | None:
    """When an agent was refused what its owner may do: what is to be done, whole, since it is done
    in the owner's name. Of what the agent does not see itself nobody is asked."""
    if caller.owner is None or caller.user.principal.read_only:
        return None
    if operation.name == "resolve":
        told = _resolve_summary(caller.user, arguments)
    elif operation.name == "update":
        told = _update_summary(caller.user, arguments)
    else:
        return None
    if told is None:
        return None
    question = ElicitationQuestion(CONSENT, "May this be done?", told, _CONSENT_CHOICES)
    return ElicitationForm("Your agent wants to change what is remembered.", (question,))


def _resolve_summary(user: User, arguments: Mapping[str, Any]) -> str | None:
    choice = _CHOICE_TEXT.get(arguments["choice"])
    target, held = arguments.get("target"), arguments.get("held")
    for each in user.conflicts(limit=_MAX_INBOX, alternatives=True):
        if choice and each.id == arguments["conflict"]:
            stands = "; ".join(s.text for s in each.standing if target in (None, s.id))
            told = "; ".join(s.text for s in each.held if held in (None, s.id))
            return f"Stands: {stands}. Told now: {told}. Then {choice}."
    return None


def _update_summary(user: User, arguments: Mapping[str, Any]) -> str | None:
    shown = user.show(arguments["id"])
    if not isinstance(shown, ShownMemory):
        return None
    changed = {n: v for n, v in arguments.items() if v is not None and n not in ("id", "thread")}
    then = "; ".join(f"{name}: {value}" for name, value in changed.items())
    return f"Stands: {shown.memory.content}. Then {then}."


def waiting_ids(answer: Any) -> list[str]:
    """What an answer leaves for a person: ids of conflicts and proposals."""
    if isinstance(answer, Remembered):
        return [answer.conflict] if answer.conflict else []
    if isinstance(answer, Proposed):
        return [answer.id] if answer.outcome is ProposalOutcome.WAITING else []
    if isinstance(answer, Observed):
        held = [each.remembered.conflict for each in answer.conflicts]
        proposed = [each.id for each in answer.proposals if each.outcome is ProposalOutcome.WAITING]
        return [*filter(None, held), *proposed]
    return []


def questions_form(caller: Caller, waiting: Iterable[str]) -> ElicitationForm | None:
    """As the one who acts may see them, and the one who is asked may decide them."""
    wanted, user, asking = set(waiting), caller.user, caller.decider.principal
    if not wanted or asking.read_only:
        return None
    questions: list[ElicitationQuestion] = []
    if asking.decides:
        open_ = user.conflicts(limit=_MAX_INBOX)
        questions += [_conflict_question(each) for each in open_ if each.id in wanted]
    if asking.is_owner:
        questions += [
            _proposal_question(each)
            for each in user.proposals(limit=_MAX_INBOX)
            if each.id in wanted
        ]
    return (
        ElicitationForm("Something in your memory waits for you.", tuple(questions))
        if questions
        else None
    )


def _conflict_question(question: OpenQuestion) -> ElicitationQuestion:
    """Replacing needs to know which: where several stand, that is left to `conflicts`."""
    choices = ("keep", "replace", "both") if len(question.standing) == 1 else ("keep", "both")
    stands = "; ".join(side.text for side in question.standing)
    held = "; ".join(side.text for side in question.held)
    told = f"Stands: {stands}. Told now: {held}. Keep what stands, replace it, or keep both?"
    return ElicitationQuestion(question.id, question.reason or "Which is right?", told, choices)


def _proposal_question(proposal: OpenProposal) -> ElicitationQuestion:
    return _consent_question(proposal.id, proposal.name, proposal.value, proposal.stands)


def _consent_question(id: str, name: str, value: Any, stands: Any) -> ElicitationQuestion:
    told = f"{name}: {value}" + (f" (now: {stands})" if stands is not None else "")
    return ElicitationQuestion(id, name, told, _CONSENT_CHOICES)


def apply_choices(user: User, chosen: Mapping[str, str]) -> list[ElicitedDecision]:
    """Each for itself: what has been decided meanwhile does not hold up the others."""
    return [_apply_choice(user, id, choice) for id, choice in chosen.items()]


def _apply_choice(user: User, id: str, choice: str) -> ElicitedDecision:
    try:
        if choice in _RESOLVE_CHOICES:
            BY_NAME["resolve"].call(user, {"conflict": id, "choice": _RESOLVE_CHOICES[choice]})
        else:
            BY_NAME[f"profile {choice}"].call(user, {"id": id})
    except CommonplaceError as error:
        return ElicitedDecision(id, choice, error.message)
    return ElicitedDecision(id, choice)

"""MCP callers, and questions to the person behind a client.

An MCP client acts for a person, but its requests may come from a model. So it is one of the owner's
agents, even with the owner's store or key: decisions that only the owner may make are pending, or
the person is asked.

Only a person who may decide is asked, and only about items that the calling agent may see. Without
an answer the item remains pending, as with clients that cannot ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from commonplace.api import User
from commonplace.errors import CommonplaceError
from commonplace.lazy import lazy_imports
from commonplace.model.profile.consent import needs_consent
from commonplace.model.profile.fields import field_name
from commonplace.operations.table import BY_NAME, Operation

with lazy_imports(__name__):
    from commonplace.engine.conversation.observe import Observed
    from commonplace.engine.memories.inbox import OpenConflict as OpenQuestion
    from commonplace.engine.memories.inbox import OpenProposal
    from commonplace.engine.memories.listing import ShownMemory
    from commonplace.engine.memories.remember import Remembered
    from commonplace.engine.profile.proposals import ProposalOutcome, Proposed

McpRequest = ServerRequestContext[Any, Any]

UNNAMED_CLIENT = "mcp"  # agent name of a client without one
_MAX_CLIENT_NAME = 64
_NON_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Caller:
    user: User  # the acting agent
    # The user whom the answering person represents; None for an agent's key, whose holder need not
    # be the owner.
    owner: User | None = None

    @property
    def decider(self) -> User:
        return self.owner or self.user


CallerLookup = Callable[[McpRequest], Caller]  # reads the store: call it in a thread


def caller_of_holder(holder: User, request: McpRequest, agent: str | None = None) -> Caller:
    """The holder of the store or of a key, acting as the configured agent or under the client's
    name. A key for an agent acts as that agent."""
    if not holder.principal.is_owner:
        return Caller(holder if agent is None else holder.agent(agent))
    return Caller(holder.agent(agent or client_name(request)), holder)


def owner_caller(owner: User) -> Caller:
    """Trust the program as the owner."""
    return Caller(owner, owner)


def client_name(request: McpRequest) -> str:
    """The client's name as a word for the categories file: "Visual Studio Code" becomes
    visual-studio-code."""
    introduced = request.session.client_params
    name = introduced.client_info.name if introduced else ""
    words = _NON_WORD.sub("-", name.encode("utf-8", "ignore").decode().casefold()).strip("-")
    return words[:_MAX_CLIENT_NAME].rstrip("-") or UNNAMED_CLIENT


CONSENT = "consent"
ACCEPT, DECLINE = "accept", "decline"
_CONSENT_CHOICES = (ACCEPT, DECLINE)
_RESOLVE_CHOICES = {"keep": "dismiss", "replace": "override", "both": "insert"}
_MAX_INBOX = 1000  # pending items that are read
_OPERATIONS_WITH_QUESTIONS = frozenset({"remember", "observe", "profile propose"})
_CHOICE_TEXT = {
    "override": "the new value replaces the current one",
    "insert": "both values are kept",
    "dismiss": "the current value is kept",
}


@dataclass(frozen=True, slots=True)
class ElicitationQuestion:
    id: str  # of the conflict or the proposal
    title: str
    description: str
    choices: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        return {
            "type": "string",
            "title": self.title,
            "description": self.description,
            "enum": list(self.choices),
        }


@dataclass(frozen=True, slots=True)
class ElicitationForm:
    message: str
    questions: tuple[ElicitationQuestion, ...]

    def schema(self) -> dict[str, Any]:
        """Flat, as the protocol requires. No field is required: questions may be skipped."""
        return {"type": "object", "properties": {q.id: q.schema() for q in self.questions}}

    def chosen(self, content: Mapping[str, Any] | None) -> dict[str, str]:
        """The valid choices of a reply."""
        answers = content or {}
        return {q.id: answers[q.id] for q in self.questions if answers.get(q.id) in q.choices}


@dataclass(frozen=True, slots=True)
class ElicitedDecision:
    """The user's choice: keep, replace or both; accept or decline."""

    id: str  # of the conflict or the proposal
    choice: str
    problem: str = ""  # why it failed; empty: done


def may_ask_before(operation: Operation) -> bool:
    return operation.name == "profile propose"


def may_ask_after(operation: Operation) -> bool:
    return operation.name in _OPERATIONS_WITH_QUESTIONS


def consent_form(user: User, arguments: Mapping[str, Any]) -> ElicitationForm | None:
    """Consent before a program that acts as the owner changes the profile: the value may come from
    a model."""
    if not user.principal.is_owner or user.principal.read_only:
        return None
    name, value = field_name(arguments.get("name")), arguments.get("value")
    current = user.profile().fields.get(name)
    if not needs_consent(name) or current == value:
        return None
    return ElicitationForm(
        "Change your profile?", (_consent_question(CONSENT, name, value, current),)
    )


def without_override(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments without their override, so that a conflict is held; None if there is none."""
    if arguments.get("on_conflict") != "override":
        return None
    return {name: value for name, value in arguments.items() if name != "on_conflict"}


def owner_approval_form(
    caller: Caller, operation: Operation, arguments: Mapping[str, Any]
) -> ElicitationForm | None:
    """Ask the owner for approval of an operation that the agent may not do. The form describes it
    completely. None if the agent cannot see the item."""
    if caller.owner is None or caller.user.principal.read_only:
        return None
    if operation.name == "resolve":
        description = _resolve_summary(caller.user, arguments)
    elif operation.name == "update":
        description = _update_summary(caller.user, arguments)
    else:
        return None
    if description is None:
        return None
    question = ElicitationQuestion(CONSENT, "Allow this change?", description, _CONSENT_CHOICES)
    return ElicitationForm("Your agent asks to change your memory.", (question,))


def _resolve_summary(user: User, arguments: Mapping[str, Any]) -> str | None:
    choice = _CHOICE_TEXT.get(arguments["choice"])
    target, held = arguments.get("target"), arguments.get("held")
    for each in user.conflicts(limit=_MAX_INBOX, alternatives=True):
        if choice and each.id == arguments["conflict"]:
            current = "; ".join(s.text for s in each.standing if target in (None, s.id))
            description = "; ".join(s.text for s in each.held if held in (None, s.id))
            return f"Current value: {current}. New value: {description}. If you accept, {choice}."
    for request in user.forget_requests(limit=_MAX_INBOX):
        if arguments["choice"] == "dismiss" and request.id == arguments["conflict"]:
            return f"You asked to forget: {request.query}. If you accept, nothing is forgotten."
    return None


def _update_summary(user: User, arguments: Mapping[str, Any]) -> str | None:
    shown = user.show(arguments["id"])
    if not isinstance(shown, ShownMemory) or shown.memory.id != arguments["id"]:
        return None
    changed = {n: v for n, v in arguments.items() if v is not None and n not in ("id", "thread")}
    then = "; ".join(f"{name}: {value}" for name, value in changed.items())
    return f"Current text: {shown.memory.content}. Change: {then}."


def waiting_ids(answer: Any) -> list[str]:
    """Ids of conflicts and proposals that an answer leaves pending."""
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
    """Pending items that the agent may see and the person may decide."""
    ids, user, decider = set(waiting), caller.user, caller.decider.principal
    if not ids or decider.read_only:
        return None
    questions: list[ElicitationQuestion] = []
    if decider.decides:
        open_ = user.conflicts(limit=_MAX_INBOX)
        questions += [_conflict_question(each) for each in open_ if each.id in ids]
    if decider.is_owner:
        questions += [
            _proposal_question(each) for each in user.proposals(limit=_MAX_INBOX) if each.id in ids
        ]
    return (
        ElicitationForm("Your memory has open questions for you.", tuple(questions))
        if questions
        else None
    )


def _conflict_question(question: OpenQuestion) -> ElicitationQuestion:
    """Replace is offered only for a single current value."""
    choices = ("keep", "replace", "both") if len(question.standing) == 1 else ("keep", "both")
    current = "; ".join(side.text for side in question.standing)
    held = "; ".join(side.text for side in question.held)
    description = (
        f"Current value: {current}. New value: {held}. "
        "Keep the current value, replace it, or keep both?"
        if question.standing
        else f"Proposed: {held}. Keep things as they are, or keep this too?"
    )
    return ElicitationQuestion(
        question.id, question.reason or "Which value is right?", description, choices
    )


def _proposal_question(proposal: OpenProposal) -> ElicitationQuestion:
    return _consent_question(proposal.id, proposal.name, proposal.value, proposal.stands)


def _consent_question(id: str, name: str, value: Any, current: Any) -> ElicitationQuestion:
    description = f"{name}: {value}" + (f" (now: {current})" if current is not None else "")
    return ElicitationQuestion(id, name, description, _CONSENT_CHOICES)


def apply_choices(user: User, chosen: Mapping[str, str]) -> list[ElicitedDecision]:
    """Apply each choice separately: one that was decided meanwhile does not stop the others."""
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

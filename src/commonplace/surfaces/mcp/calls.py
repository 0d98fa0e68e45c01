"""One tool call: caller, arguments, verb, elicitation, result."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from commonplace.api import User
from commonplace.errors import CommonplaceError, InvalidInput, NotAllowed
from commonplace.operations.serialization import (
    arguments_from_json,
    as_data,
    refuse_missing,
    unexpected_error,
)
from commonplace.surfaces.mcp.elicitation import (
    ACCEPT,
    CONSENT,
    Caller,
    CallerLookup,
    ElicitationForm,
    ElicitedDecision,
    McpRequest,
    apply_choices,
    consent_form,
    may_ask_before,
    owner_approval_form,
    questions_form,
    waiting_ids,
    without_override,
)
from commonplace.surfaces.mcp.presentation import (
    DECIDED,
    RESULT,
    answer_text,
    error_text,
    waiting_text,
)
from commonplace.surfaces.mcp.tools import BY_TOOL, Tool, ToolOperation

log = logging.getLogger("commonplace.mcp")

OnWrite = Callable[[User], None]
ToolOutcome = types.CallToolResult | types.InputRequiredResult

ERROR = "commonplace/error"  # an error as data, beside its words
ELICITATION_SECONDS = 600  # seconds that a person is given to answer
_INPUT = "decision"
_Kept = TypeVar("_Kept")


async def in_thread(call: Callable[..., _Kept], *given: Any) -> _Kept:
    """The engine waits for its database; the loop goes on. What was begun comes to its end, even
    where the caller has given up on it."""
    return await anyio.to_thread.run_sync(partial(call, *given))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the verb said, as it goes out: also what is carried along while a person is asked."""

    data: Any
    text: str
    waiting: Sequence[str]


class ToolCalls:
    def __init__(self, who: CallerLookup, wrote: OnWrite):
        self._who = who
        self._wrote = wrote

    async def __call__(
        self, asking: McpRequest, params: types.CallToolRequestParams
    ) -> ToolOutcome:
        tool = BY_TOOL.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            caller = await in_thread(self._who, asking)
            return await self._called(tool, caller, ElicitationDialogue(asking, params))
        except _InputRequired as paused:
            return paused.until
        except CommonplaceError as error:
            return error_result(error)
        except MCPError:
            raise
        except Exception as error:  # whatever it is, no trace of it reaches the caller
            log.error("tool", exc_info=error, extra={"facts": {"tool": tool.name}})
            return error_result(internal_error())

    async def _called(
        self, tool: Tool, caller: Caller, dialogue: ElicitationDialogue
    ) -> types.CallToolResult:
        way, arguments = resolve_call(tool, dialogue.params.arguments or {})
        answered = dialogue.carried()
        if answered is None:
            caller = await self._agreed(way, caller, arguments, dialogue)
            answered = await self._answered(way, caller, arguments, dialogue)
            if not tool.reads_only:
                self._wrote(caller.user)
        return await self._settled(caller, answered, dialogue)

    async def _agreed(
        self,
        way: ToolOperation,
        caller: Caller,
        arguments: Mapping[str, Any],
        dialogue: ElicitationDialogue,
    ) -> Caller:
        if not dialogue.can_ask or not may_ask_before(way.operation):
            return caller
        form = await in_thread(consent_form, caller.user, arguments)
        return caller if form is None else await self._agreed_to(form, dialogue)

    async def _agreed_to(self, form: ElicitationForm, dialogue: ElicitationDialogue) -> Caller:
        if (await dialogue.ask(form)).get(CONSENT) != ACCEPT:
            raise NotAllowed(
                "The user declined; nothing was changed.",
                remedy="Continue without it; do not retry unless the user asks.",
            )
        return await self._still(dialogue)

    async def _answered(
        self,
        way: ToolOperation,
        caller: Caller,
        arguments: Mapping[str, Any],
        dialogue: ElicitationDialogue,
    ) -> ToolAnswer:
        """What an agent is refused and its owner could decide, the person is asked for."""
        try:
            return await in_thread(_call_operation, way, caller.user, arguments)
        except NotAllowed:
            if not dialogue.can_ask or caller.owner is None:
                raise
            if (asked := without_override(arguments)) is not None:
                return await in_thread(_call_operation, way, caller.user, asked)
            form = await in_thread(owner_approval_form, caller, way.operation, arguments)
            if form is None:
                raise
        agreed = await self._agreed_to(form, dialogue)
        return await in_thread(_call_operation, way, agreed.decider, arguments)

    async def _settled(
        self, caller: Caller, answered: ToolAnswer, dialogue: ElicitationDialogue
    ) -> types.CallToolResult:
        """With what the user decided at once, where they could be asked."""
        chosen: dict[str, str] = {}
        if answered.waiting and dialogue.can_ask:
            form = await in_thread(questions_form, caller, answered.waiting)
            chosen = await dialogue.ask(form, answered) if form else {}
        decided: list[ElicitedDecision] = []
        if chosen:
            caller = await self._still(dialogue)
            decided = await in_thread(apply_choices, caller.decider, chosen)
            self._wrote(caller.user)
        done = {each.id for each in decided if not each.problem}
        still = [id for id in answered.waiting if id not in done]
        return tool_result(answered, as_data(decided), waiting_text(caller.user, still))

    async def _still(self, dialogue: ElicitationDialogue) -> Caller:
        """Who it is, looked at anew: people take their time, and keys are revoked meanwhile."""
        return await in_thread(self._who, dialogue.asking)


def resolve_call(tool: Tool, given: Mapping[str, Any]) -> tuple[ToolOperation, dict[str, Any]]:
    """The way that a call takes, and what the verb is given. What belongs to another way of the
    same tool makes no sense beside it, and is refused as unknown."""
    arguments = arguments_from_json(tool.parameters, given)
    way = tool.way(arguments)
    own_words = {each.when for each in tool.ways if each.when}
    passed = {n: v for n, v in given.items() if n in way.shows or n not in own_words}
    arguments = arguments_from_json(way.parameters, passed)
    refuse_missing(way.parameters, arguments)
    return way, arguments


def _call_operation(way: ToolOperation, user: User, arguments: Mapping[str, Any]) -> ToolAnswer:
    answer = way.operation.call(user, arguments)
    data = as_data(answer)
    return ToolAnswer(data, answer_text(answer, data), waiting_ids(answer))


# ——— asking ———


class _InputRequired(Exception):
    """No error, but the end for now: the call goes on when the client comes again with the user's
    answer."""

    def __init__(self, until: types.InputRequiredResult):
        super().__init__()
        self.until = until


class ElicitationDialogue:
    """Asking the person behind a client. Up to 2025-11-25 the server asks in the middle of the
    call; from 2026-07-28 on the call ends with its questions, and is made again with answers."""

    def __init__(self, asking: McpRequest, params: types.CallToolRequestParams):
        self.asking = asking
        self.params = params
        self._is_modern = asking.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_ask(self) -> bool:
        able = self.asking.session.client_capabilities
        if able is None or able.elicitation is None:
            return False
        by_form = able.elicitation.form is not None or able.elicitation.url is None
        return by_form and (self._is_modern or self.asking.session.can_send_request)

    def carried(self) -> ToolAnswer | None:
        """The answer from before the question. It is only ever given back to who brings it, and
        what it names is decided with the caller's own rights, so it need not be sealed."""
        if self.params.request_state is None:
            return None
        try:
            kept = json.loads(self.params.request_state)
        except (ValueError, RecursionError):
            kept = ()
        match kept:
            case None:
                return None
            case {"data": data, "text": str(text), "waiting": [*ids]}:
                return ToolAnswer(data, text, [str(id) for id in ids])
        raise InvalidInput("Invalid request state.", field="requestState")

    async def ask(
        self, form: ElicitationForm, answered: ToolAnswer | None = None
    ) -> dict[str, str]:
        if not self._is_modern:
            return form.chosen(await self._asked_in_between(form))
        answers = self.params.input_responses or {}
        if _INPUT not in answers:
            raise _InputRequired(_input_required(form, answered))
        return form.chosen(_accepted_content(answers[_INPUT]))

    async def _asked_in_between(self, form: ElicitationForm) -> Mapping[str, Any] | None:
        try:
            result = await self.asking.session.send_request(
                _elicitation(form),
                types.ElicitResult,
                request_read_timeout_seconds=ELICITATION_SECONDS,
                metadata=ServerMessageMetadata(related_request_id=self.asking.request_id),
            )
        except (MCPError, ValidationError) as error:
            # A client that fails to ask leaves it undecided; what was told is held all the same.
            log.info("asked", extra={"facts": {"unanswered": type(error).__name__}})
            return None
        return _accepted_content(result)


def _accepted_content(given: object) -> Mapping[str, Any] | None:
    if not isinstance(given, types.ElicitResult) or given.action != "accept":
        return None
    return given.content


def _elicitation(form: ElicitationForm) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=form.message, requested_schema=form.schema())
    )


def _input_required(
    form: ElicitationForm, answered: ToolAnswer | None
) -> types.InputRequiredResult:
    kept = answered and {
        "data": answered.data,
        "text": answered.text,
        "waiting": list(answered.waiting),
    }
    return types.InputRequiredResult(
        input_requests={_INPUT: _elicitation(form)}, request_state=json.dumps(kept)
    )


# ——— what goes back ———


def tool_result(
    answered: ToolAnswer, decided: Sequence[Any] = (), hint: str = ""
) -> types.CallToolResult:
    data = answered.data if isinstance(answered.data, dict) else {RESULT: answered.data}
    texts = [answered.text, json.dumps({DECIDED: decided}) if decided else "", hint]
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts if text],
        structured_content={**data, DECIDED: decided} if decided else data,
    )


def error_result(error: CommonplaceError) -> types.CallToolResult:
    """In words for the agent, which can often mend it, and as data for a program."""
    return types.CallToolResult(
        content=[types.TextContent(text=error_text(error))],
        is_error=True,
        _meta={ERROR: error.as_dict()},
    )


def internal_error() -> CommonplaceError:
    return unexpected_error("what was called")

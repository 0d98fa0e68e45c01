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
from commonplace.surfaces.rest.request_checks import HeavyOperations

log = logging.getLogger("commonplace.mcp")

OnWrite = Callable[[User], None]
ToolOutcome = types.CallToolResult | types.InputRequiredResult

ERROR = "commonplace/error"  # the key of an error as data
ELICITATION_SECONDS = 600  # time limit for the person's answer
_INPUT = "decision"
_Result = TypeVar("_Result")


async def in_thread(call: Callable[..., _Result], *given: Any) -> _Result:
    """Run a blocking engine call in a thread. It is completed even if the caller is cancelled."""
    return await anyio.to_thread.run_sync(partial(call, *given))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The verb's answer in its final form, also kept while a person is asked."""

    data: Any
    text: str
    waiting: Sequence[str]


class ToolCalls:
    def __init__(self, who: CallerLookup, wrote: OnWrite, heavy: HeavyOperations):
        self._who = who
        self._wrote = wrote
        self._heavy = heavy

    async def __call__(
        self, request: McpRequest, params: types.CallToolRequestParams
    ) -> ToolOutcome:
        tool = BY_TOOL.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            caller = await in_thread(self._who, request)
            return await self._called(tool, caller, ElicitationDialogue(request, params))
        except _InputRequired as paused:
            return paused.until
        except CommonplaceError as error:
            return error_result(error)
        except MCPError:
            raise
        except Exception as error:  # no details reach the caller
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
        """If the agent may not do it but its owner may, the person is asked."""
        try:
            return await self._run(way, caller.user, arguments)
        except NotAllowed:
            if not dialogue.can_ask or caller.owner is None:
                raise
            if (adjusted := without_override(arguments)) is not None:
                return await self._run(way, caller.user, adjusted)
            form = await in_thread(owner_approval_form, caller, way.operation, arguments)
            if form is None:
                raise
        agreed = await self._agreed_to(form, dialogue)
        return await self._run(way, agreed.decider, arguments)

    async def _run(
        self, way: ToolOperation, user: User, arguments: Mapping[str, Any]
    ) -> ToolAnswer:
        size = text_length(arguments)
        async with self._heavy.turn(way.operation, user.principal.user_id, size):
            return await in_thread(_call_operation, way, user, arguments)

    async def _settled(
        self, caller: Caller, answered: ToolAnswer, dialogue: ElicitationDialogue
    ) -> types.CallToolResult:
        """The result with the user's immediate decisions, if the client can ask."""
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
        """Authenticate again after a question: the key may have been revoked meanwhile."""
        return await in_thread(self._who, dialogue.request)


def text_length(value: object) -> int:
    """The characters of all texts in the arguments."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(map(text_length, value.values()))
        case list() | tuple():
            return sum(map(text_length, value))
        case _:
            return 0


def resolve_call(tool: Tool, given: Mapping[str, Any]) -> tuple[ToolOperation, dict[str, Any]]:
    """The operation that a call selects, and the verb's arguments. Arguments of the tool's other
    operations are rejected as unknown."""
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


# ——— elicitation ———


class _InputRequired(Exception):
    """Ends the call until the client repeats it with the user's answer; not an error."""

    def __init__(self, until: types.InputRequiredResult):
        super().__init__()
        self.until = until


class ElicitationDialogue:
    """Elicitation from the person behind a client. Up to protocol 2025-11-25 the server asks during
    the call; from 2026-07-28 on the call ends with its questions and is repeated with answers."""

    def __init__(self, request: McpRequest, params: types.CallToolRequestParams):
        self.request = request
        self.params = params
        self._is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_ask(self) -> bool:
        able = self.request.session.client_capabilities
        if able is None or able.elicitation is None:
            return False
        by_form = able.elicitation.form is not None or able.elicitation.url is None
        return by_form and (self._is_modern or self.request.session.can_send_request)

    def carried(self) -> ToolAnswer | None:
        """The answer from before the question. It needs no signature: it is returned only to the
        client that sends it, and decisions use the caller's own rights."""
        if self.params.request_state is None:
            return None
        try:
            state = json.loads(self.params.request_state)
        except (ValueError, RecursionError):
            state = ()
        match state:
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
            result = await self.request.session.send_request(
                _elicitation(form),
                types.ElicitResult,
                request_read_timeout_seconds=ELICITATION_SECONDS,
                metadata=ServerMessageMetadata(related_request_id=self.request.request_id),
            )
        except (MCPError, ValidationError) as error:
            # If the client fails to ask, the value remains held and undecided.
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
    state = answered and {
        "data": answered.data,
        "text": answered.text,
        "waiting": list(answered.waiting),
    }
    return types.InputRequiredResult(
        input_requests={_INPUT: _elicitation(form)}, request_state=json.dumps(state)
    )


# ——— results ———


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
    """As text for the agent, which can often correct the call, and as data for a program."""
    return types.CallToolResult(
        content=[types.TextContent(text=error_text(error))],
        is_error=True,
        _meta={ERROR: error.as_dict()},
    )


def internal_error() -> CommonplaceError:
    return unexpected_error("what was called")

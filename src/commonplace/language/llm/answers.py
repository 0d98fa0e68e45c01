"""A model's answer: read leniently, checked against the schema, and repaired once.

Models write fences and thoughts around JSON, leave out what is empty and add what nobody asked for:
none of that is worth a second call. What is still not of the schema's form is asked for once more,
with the problem. If that answer is wrong, too, the wrong items of its lists are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.language.llm.conform import (
    WrongForm,
    check_form,
    conform,
    holds_items,
    without_wrong_items,
)
from commonplace.language.llm.json_reading import NoJson, read_json
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    Message,
    MessageRole,
    ModelAnswer,
    ModelFailure,
    ModelInputTooLong,
    ModelRefused,
    ModelRequest,
    TokenCount,
)
from commonplace.language.llm.prompts import fragment

_MAX_REPEATED = 20_000  # characters of a wrong answer that are shown to the model again
_MAX_COUNT = 10_000_000  # tokens of one call; servers say anything
_CHARS_OF_TOKEN = 4
_CUT = "it was cut off at its limit of length"


@dataclass(frozen=True, slots=True)
class RawAnswer:
    text: str
    read: object = None  # tokens, as the server counts them; not a number: they are estimated
    written: object = None
    is_truncated: bool = False  # cut off at the token limit
    is_refused: bool = False  # the model does not want to answer

    def tokens(self, request: ModelRequest) -> TokenCount:
        asked = sum(len(message.content) for message in request.messages)
        return TokenCount(_count(self.read, asked), _count(self.written, len(self.text)))


def _count(told: object, chars: int) -> int:
    if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
        return min(told, _MAX_COUNT)
    return -(-chars // _CHARS_OF_TOKEN)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One answer: the value if it has the form, else what is wrong with it."""

    value: Any = None
    problem: str = ""


def complete_checked(
    ask: Callable[[ModelRequest], RawAnswer], request: ModelRequest
) -> ModelAnswer:
    """``ask`` raises ModelFailure. Tokens of both calls are counted, also if they fail."""
    first = ask(request)
    tokens = first.tokens(request)
    reading = _read(first, request)
    if not reading.problem:
        return ModelAnswer(reading.value, first.text, tokens)
    if first.is_refused:
        raise _bad("the model declined to answer", tokens, first)
    again = _repair_request(request, first, reading.problem)
    try:
        second = ask(again)
    except (ModelRefused, ModelInputTooLong):
        # Such as a longer answer than the model can give: it did answer before.
        raise _bad(f"the model's answer cannot be used: {reading.problem}", tokens, first) from None
    except ModelFailure as failure:
        failure.tokens = failure.tokens + tokens
        raise
    tokens += second.tokens(again)
    repaired = _read(second, request)
    if not repaired.problem:
        return ModelAnswer(repaired.value, second.text, tokens, is_repaired=True)
    for answer, wrong in ((second, repaired), (first, reading)):
        rest = without_wrong_items(wrong.value, request.schema)
        if holds_items(rest) and _problem_of(rest, request) is None:
            return ModelAnswer(rest, answer.text, tokens, is_repaired=True)
    raise _bad(f"the model's answer cannot be used: {repaired.problem}", tokens, second)


def _bad(message: str, tokens: TokenCount, answer: RawAnswer) -> BadModelAnswer:
    failure = BadModelAnswer(message)
    failure.tokens = tokens
    failure.is_truncated = answer.is_truncated
    return failure


def _read(answer: RawAnswer, request: ModelRequest) -> _Reading:
    if answer.is_refused:
        return _Reading(problem="it declines to answer")
    try:
        value = conform(read_json(answer.text), request.schema)
    except NoJson as error:
        return _Reading(problem=_CUT if answer.is_truncated else str(error))
    except RecursionError:
        return _Reading(problem="it is nested too deeply")
    problem = _problem_of(value, request)
    return _Reading(value, _CUT if problem and answer.is_truncated else problem or "")


def _problem_of(value: Any, request: ModelRequest) -> str | None:
    try:
        check_form(value, request.schema)
    except WrongForm as error:
        return str(error)
    return None


# ——— requests ———


def _repair_request(request: ModelRequest, answer: RawAnswer, problem: str) -> ModelRequest:
    """Roles go on in turns: the chat templates of some models refuse anything else."""
    if answer.is_truncated:
        longer = replace(request, max_tokens=2 * request.max_tokens)
        return _with_user_text(longer, fragment("shorter"))
    told = fragment("repair", problem=problem, schema=schema_text(request))
    if not answer.text.strip():
        return _with_user_text(request, told)
    wrong = Message(MessageRole.ASSISTANT, answer.text[:_MAX_REPEATED])
    return replace(request, messages=[*request.messages, wrong, Message(MessageRole.USER, told)])


def _with_user_text(request: ModelRequest, text: str) -> ModelRequest:
    *others, last = request.messages
    longer = replace(last, content=f"{last.content}\n\n{text}")
    return replace(request, messages=[*others, longer])


def with_form_in_words(request: ModelRequest) -> Sequence[Message]:
    """For servers that know no schemas: it is told in the system's message."""
    messages = request.messages
    told = fragment("form", schema=schema_text(request))
    if messages and messages[0].role is MessageRole.SYSTEM:
        system = Message(MessageRole.SYSTEM, f"{messages[0].content}\n\n{told}")
        return [system, *messages[1:]]
    return [Message(MessageRole.SYSTEM, told), *messages]


def schema_text(request: ModelRequest) -> str:
    return json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))


def is_json(text: str) -> bool:
    """Whether there is any JSON in it: a server that promised a schema's form keeps to it."""
    try:
        read_json(text)
    except NoJson:
        return False
    return True

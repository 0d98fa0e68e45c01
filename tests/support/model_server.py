"""A language model's server on loopback: it speaks the wire protocols of OpenAI's chat completions
and of Anthropic's messages, answers as a test tells it to, and misbehaves when told to.

    with model_server({"memories": []}) as server:      # every request gets this value
        server.then = [refuse(429), text("{not JSON")]  # but for the next two
        book = open_book(model=server.model())              # tries again without a pause
        book = open_book(model="openai:stub", model_url=server.url)

An answer is a value (sent as JSON text, or as a tool's input), a function of the request that gives
one, or one of the behaviours below.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from commonplace.language.llm import server as wire
from commonplace.language.llm.openai import OpenAiModel

FORMS = frozenset({"json_schema", "json_object", "text", "tool"})


@dataclass(frozen=True)
class ModelQuestion:
    """One request, as it came over the wire."""

    path: str
    headers: Mapping[str, str]  # names in small letters
    body: Mapping[str, Any]

    @property
    def is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    @cached_property
    def form(self) -> str:
        """How the answer's form is asked for: json_schema, json_object, tool or text."""
        if self.body.get("tools"):
            return "tool"
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def schema_name(self) -> str:
        """The prompt's name; empty where only a text asks for the form."""
        if self.form == "tool":
            return str(self.body["tools"][0]["name"])
        return str(self.body.get("response_format", {}).get("json_schema", {}).get("name", ""))

    @property
    def system(self) -> str:
        told = [m["content"] for m in self.body["messages"] if m["role"] == "system"]
        return "\n".join([*told, self.body.get("system", "")]).strip()

    @property
    def user(self) -> str:
        """The last message of the user."""
        return str([m["content"] for m in self.body["messages"] if m["role"] == "user"][-1])

    @property
    def prompt(self) -> str:
        """All texts, of all messages."""
        return "\n".join([self.system, *(m["content"] for m in self.body["messages"])])


@dataclass(frozen=True)
class Behaviour:
    """Writes the whole response."""

    act: Callable[[_ModelHandler, ModelQuestion], None]


Answer = Any  # a value, a function of ModelQuestion, or a Behaviour


class ModelServer:
    """``then`` holds what the next requests meet, one each; afterwards ``answer`` is given to all.
    ``forms``: others are refused with 400, as servers do that do not know them."""

    def __init__(self, answer: Answer, forms: Iterable[str] = FORMS):
        self.answer = answer
        self.then: list[Answer] = []
        self.forms = frozenset(forms)
        self.requests: list[ModelQuestion] = []
        self.counts_tokens = True
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _ModelHandler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """For both protocols: `/chat/completions` and `/messages` are below it."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def model(self, timeout: float = 60.0) -> OpenAiModel:
        """A client of it, which does not pause before it tries again."""
        address = wire.ModelServer(self.url, "stub", timeout=timeout)
        return OpenAiModel(address, sleep=lambda _: None)

    def next_answer(self, asked: ModelQuestion) -> Answer:
        with self._lock:
            self.requests.append(asked)
            if asked.form not in self.forms:
                return refuse(400, f"{asked.form} is not supported")
            return self.then.pop(0) if self.then else self.answer

    def stop(self) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)


@contextmanager
def model_server(answer: Answer = None, forms: Iterable[str] = FORMS) -> Iterator[ModelServer]:
    server = ModelServer({} if answer is None else answer, forms)
    try:
        yield server
    finally:
        server.stop()


class _ModelHandler(BaseHTTPRequestHandler):
    @property
    def owner(self) -> ModelServer:
        return self.server.owner  # type: ignore[attr-defined, no-any-return]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = ModelQuestion(self.path, headers, body)
        answer = self.owner.next_answer(asked)
        while callable(answer):
            answer = answer(asked)
        if self.path not in ("/v1/chat/completions", "/v1/messages"):
            answer = refuse(404, "no such path")
        (answer if isinstance(answer, Behaviour) else good(answer)).act(self, asked)

    def reply(self, status: int, answer: Any, **headers: str) -> None:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def completion(self, asked: ModelQuestion, written: Any, *, is_cut: bool = False) -> Any:
        """A whole answer in the form of the request's protocol. ``written``: a text; or a value,
        if the request forces a tool."""
        content = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
        read, wrote = len(asked.prompt) // 4, len(content) // 4
        if asked.is_anthropic:
            is_tool = asked.form == "tool" and not isinstance(written, str)
            block = (
                {"type": "tool_use", "id": "t1", "name": asked.schema_name, "input": written}
                if is_tool
                else {"type": "text", "text": content}
            )
            ended = "tool_use" if is_tool else "end_turn"
            return {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": asked.body["model"],
                "content": [block],
                "stop_reason": "max_tokens" if is_cut else ended,
                "usage": {"input_tokens": read, "output_tokens": wrote},
            }
        message = {"role": "assistant", "content": content}
        counted = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": asked.body["model"],
            "choices": [
                {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}
            ],
            **({"usage": counted} if self.owner.counts_tokens else {}),
        }

    def log_message(self, *_: Any) -> None:
        """Tests speak for themselves."""


# ——— behaviours ———


def good(value: Any) -> Behaviour:
    """A value, in the form that was asked for."""
    return Behaviour(lambda handler, asked: handler.reply(200, handler.completion(asked, value)))


def text(words: str, *, is_cut: bool = False) -> Behaviour:
    """These words as the model's answer: malformed, empty, hostile, with a fence around …"""
    return Behaviour(
        lambda handler, asked: handler.reply(200, handler.completion(asked, words, is_cut=is_cut))
    )


def truncated(value: Any, part: float = 0.5) -> Behaviour:
    """The first part of an answer that reached its token limit."""
    words = json.dumps(value)
    return text(words[: int(len(words) * part)], is_cut=True)


def repeat_prompt() -> Behaviour:
    return Behaviour(
        lambda handler, asked: handler.reply(200, handler.completion(asked, asked.prompt))
    )


def raw(answer: Any, status: int = 200) -> Behaviour:
    """A body that need not be of the protocol, nor JSON (bytes)."""
    return Behaviour(lambda handler, _: handler.reply(status, answer))


def refuse(
    status: int, message: str = "no", *, param: str | None = None, **headers: str
) -> Behaviour:
    """Such as 401, 429 with Retry_After="7", or 500."""
    error = {"message": message, "type": "error", "param": param}
    return Behaviour(lambda handler, _: handler.reply(status, {"error": error}, **headers))


# How servers say that a prompt is too long: the status, and the body.
TOO_LONG: Mapping[str, tuple[int, Any]] = {
    "openai": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 9120 tokens. Please reduce the length of the messages.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
        },
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested "
            "9120 tokens (5120 in the messages, 4000 in the completion).",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "ollama": (400, {"error": "the input length exceeds the context length"}),
    "anthropic": (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 208310 tokens > 200000 maximum",
            },
        },
    ),
    "text generation inference": (
        422,
        {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 2048"},
    ),
    "tokens": (400, {"detail": "too many tokens: at most 4096 are read"}),
    "a proxy": (413, b"<html>413 Request Entity Too Large</html>"),
}


def refuse_too_long(server: str = "openai") -> Behaviour:
    status, body = TOO_LONG[server]
    return raw(body, status)


def at_most(characters: int, answer: Answer) -> Callable[[ModelQuestion], Answer]:
    """A longer message of the user is refused, as each protocol does it."""

    def limited(asked: ModelQuestion) -> Answer:
        if len(asked.user) <= characters:
            return answer
        return refuse_too_long("anthropic" if asked.is_anthropic else "openai")

    return limited


def hang_up() -> Behaviour:
    """The connection ends before an answer."""

    def act(handler: _ModelHandler, _: ModelQuestion) -> None:
        handler.close_connection = True
        handler.connection.close()

    return Behaviour(act)


def cut_off(value: Any = None) -> Behaviour:
    """The connection ends in the middle of the answer."""

    def act(handler: _ModelHandler, asked: ModelQuestion) -> None:
        body = json.dumps(handler.completion(asked, value or {})).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2])
        handler.close_connection = True

    return Behaviour(act)


def slow(seconds: float = 60.0, value: Any = None) -> Behaviour:
    """Silent until the time is over or the server stops; then it answers."""

    def act(handler: _ModelHandler, asked: ModelQuestion) -> None:
        handler.owner.stopped.wait(seconds)
        handler.reply(200, handler.completion(asked, {} if value is None else value))

    return Behaviour(act)


def held(until: threading.Event, value: Any = None) -> Behaviour:
    """Answers when the test says so."""

    def act(handler: _ModelHandler, asked: ModelQuestion) -> None:
        until.wait(60)
        handler.reply(200, handler.completion(asked, {} if value is None else value))

    return Behaviour(act)

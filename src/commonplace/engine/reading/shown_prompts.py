"""The dry run: the prompts that a language model would be sent for sources. Nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.extract import (
    Extracted,
    pending_sources,
    readable_source,
)
from commonplace.engine.llm.shown_prompt import ShownPrompt
from commonplace.engine.reading.on_request import unread_sources
from commonplace.engine.reading.prepared import (
    PreparedWindow,
    load_source_to_read,
    prepare_all_windows,
)
from commonplace.errors import NotFound
from commonplace.language.text.tokens import count_tokens
from commonplace.model.access.principal import Principal


def show_prompts_of(
    engine: EngineContext, reader: Principal, ids: Sequence[str], limit: int
) -> Extracted:
    """As if nothing of these sources was read yet."""
    shown: list[ShownPrompt] = []
    for id in ids:
        with engine.store.read_session():
            if readable_source(engine, reader, id) is None:
                raise NotFound(f"No source {id!r}.", remedy="Look it up: sources.", field="ids")
            shown += _prompts(engine, reader, id, anew=True)
    return _shown(engine, reader, shown[:limit])


def show_pending_prompts(engine: EngineContext, reader: Principal, limit: int) -> Extracted:
    """Of what is not extracted or not read yet."""
    shown: list[ShownPrompt] = []
    pending = (each.id for each in pending_sources(engine, reader))
    unread = (each.id for each in unread_sources(engine, reader))
    for id in dict.fromkeys((*pending, *unread)):
        with engine.store.read_session():
            shown += _prompts(engine, reader, id, anew=False)
        if len(shown) >= limit:
            break
    return _shown(engine, reader, shown[:limit])


def _shown(engine: EngineContext, reader: Principal, prompts: Sequence[ShownPrompt]) -> Extracted:
    revision = engine.store.counters(reader.own_scope).revision
    return Extracted(0, 0, 0, 0, 0, 0, revision, tuple(prompts))


def _prompts(
    engine: EngineContext, reader: Principal, id: str, *, anew: bool
) -> Iterator[ShownPrompt]:
    to_read = load_source_to_read(engine, reader, id, anew=anew)
    if to_read is None:
        return
    for prepared in prepare_all_windows(engine, reader, to_read):
        if prepared.says_anything:
            yield _shown_prompt(prepared)


def _shown_prompt(prepared: PreparedWindow) -> ShownPrompt:
    request = prepared.prompt.request(prepared.values)
    texts = {str(message.role): message.content for message in request.messages}
    return ShownPrompt(
        prepared.source.id,
        prepared.prompt.id,
        tuple(each.id for each in prepared.window.new),
        sum(map(count_tokens, texts.values())),
        texts.get("system", ""),
        texts.get("user", ""),
    )

"""What a language model answered is gone with the source that it is about, to the last byte."""

from __future__ import annotations

import pytest

from commonplace.engine.llm.model_calls import ask_model
from support.making import ANA
from support.models import ToldModel, a_prompt, saying, with_model

WAYS = {
    "the source": lambda me, source: me.erase(source, now=True),
    "a passage": lambda me, source: me.erase(f"{source}#1", now=True),
    "everything": lambda me, source: me.erase_user(now=True),
}


@pytest.mark.parametrize("way", WAYS)
def test_erase_leaves_no_bytes_of_model_answers(book, me, secret, holding, way):
    source = me.ingest("Bob: The boat is ready.\nEve: Good.", format="transcript", wait=True).id
    engine = with_model(book, ToldModel(saying({"text": f"They call it {secret}"})))
    for about in (source, None):
        ask_model(engine, ANA, a_prompt(), {"text": f"about {about}"}, source=about)
    assert me.verify_forget(secret).found_in == ("model_answers",)
    assert holding(secret), "the test can find what is there"
    assert WAYS[way](me, source).scrub == "complete"
    assert me.verify_forget(secret).clean
    book.close()
    assert holding(secret) == []

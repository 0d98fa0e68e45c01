"""An answer that was kept for who asks again is gone with what it told, to the last byte."""

from __future__ import annotations

import pytest

from support.rest_server import running

WAYS = {
    "a memory": lambda server, id: server.ask("POST", f"/v1/memories/{id}/erase", {"now": True}),
    "everything": lambda server, id: server.ask("DELETE", "/v1/me?now=true"),
}


@pytest.mark.parametrize("way", WAYS)
def test_erase_leaves_no_bytes_of_idempotency_answers(book, me, secret, holding, way):
    with running(book) as server:

        def remember(key):
            told = {"content": f"The code word is {secret}"}
            return server.ask("POST", "/v1/memories", told, {"idempotency-key": key})

        id = remember("once").data["id"]
        body = {"tags": [secret]}
        server.ask("PATCH", f"/v1/memories/{id}", body, {"idempotency-key": "twice"})
        assert "kept_answers" in me.verify_forget(secret).found_in
        assert holding(secret), "the test can find what is there"
        assert WAYS[way](server, id).status == 200
        assert me.verify_forget(secret).clean
        again = remember("once")
        if way == "a memory":
            assert (again.status, again.data["code"]) == (409, "idempotency_conflict")
            assert me.list().memories == (), "and asking again does not bring it back"
            book.close()
            assert holding(secret) == []


def test_idempotency_answer_holds_no_api_key_token(book, me, holding):
    with running(book) as server:
        named = {"idempotency-key": "once"}
        token = server.ask("POST", "/v1/keys", {"label": "x"}, named).data["token"]
    assert not me.verify_forget(token).found_in
    book.close()
    assert holding(token.rsplit(".", 1)[1]) == []

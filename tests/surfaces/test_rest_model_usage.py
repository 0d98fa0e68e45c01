"""`GET /v1/admin/model-usage`: for admins, and for nobody else."""

from __future__ import annotations

import pytest

import commonplace
from support.models import ToldModel, saying
from support.rest_server import running


@pytest.fixture
def book(tmp_path):
    model = ToldModel(saying({"sum": 42}))
    with commonplace.open(
        str(tmp_path / "memory.db"), embedder="hashing", model=model, worker="off"
    ) as opened:
        yield opened


def test_rest_admin_sees_what_models_used_for_each_user(book):
    book.user("ana").model_check()
    admin, ana = book.admin_keys_create().token, book.user("ana").keys_create("laptop").token
    service = book.service_keys_create("backend").token
    with running(book, serve_keyless=False) as server:
        answer = server.ask("GET", "/v1/admin/model-usage?days=7", key=admin)
        assert [(each["user_id"], each["calls"]) for each in answer.data] == [("ana", 1)]
        for key in (ana, service):
            refused = server.ask("GET", "/v1/admin/model-usage", key=key)
            assert (refused.status, refused.data["code"]) == (403, "not_allowed")

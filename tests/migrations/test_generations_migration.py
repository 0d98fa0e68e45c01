"""A store of the first schema keeps its vectors and its embedder through the second."""

import pytest

import commonplace
from commonplace.errors import EmbedderMismatch
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.store.postgres import store as postgres_store
from commonplace.store.queries import EmbedderIdentity
from commonplace.store.sqlite import store as sqlite_store
from support.making import ANA
from support.stores import is_postgres, open_store, raw


def made_by_the_first_version(url, monkeypatch):
    """Its schema, the embedder it wrote down, and a vector."""
    backend = postgres_store if is_postgres(url) else sqlite_store
    with monkeypatch.context() as older:
        older.setattr(backend, "_MIGRATIONS", backend._MIGRATIONS[:1])
        open_store(url).close()
    vector = HashingEmbedder().embed(["The lamp is green"])[0].astype("<f4").tobytes()
    raw(url, "INSERT INTO store_facts VALUES ('embedder', '256 hashing-256')")
    raw(url, "INSERT INTO scopes (scope, seq, units) VALUES (?, 1, 1)", ANA.key)
    raw(url, "INSERT INTO vectors (scope, unit, vector) VALUES (?, 0, ?)", ANA.key, vector)
    return vector


def test_generations_migration_keeps_vectors_as_the_first_generation(url, monkeypatch):
    vector = made_by_the_first_version(url, monkeypatch)
    store = open_store(url)
    assert store.index_page(ANA, 0, -1).vectors == [(0, vector)]
    (generation,) = store.generations()
    assert (generation.number, generation.state) == (1, "current")
    assert generation.embedder == EmbedderIdentity("hashing-256", 256)
    store.close()
    assert raw(url, "SELECT value FROM store_facts WHERE name = 'embedder'") == []


def test_generations_migration_keeps_the_embedder_claim(url, monkeypatch):
    made_by_the_first_version(url, monkeypatch)
    commonplace.open(url, embedder="hashing", tidy_on_open=False).close()
    with pytest.raises(EmbedderMismatch, match="hashing-256"):
        commonplace.open(url, embedder=HashingEmbedder(64), tidy_on_open=False)


def test_new_store_has_no_generation_before_an_embedder_is_claimed(url):
    store = open_store(url)
    assert store.generations() == []
    mine = EmbedderIdentity("hashing-64", 64)
    assert store.claim_embedder(mine) == mine
    assert [each.number for each in store.generations()] == [1]
    assert store.counters(ANA).generation == 1
    store.close()

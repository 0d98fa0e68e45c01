"""doctor: everything is sound, or it says what is not and what to do."""

from __future__ import annotations

import pytest

from support.raw_sql import run_raw
from support.stores import raw


@pytest.fixture
def sound(me):
    me.remember("The garden gate needs a new lock")
    me.recall("garden")
    return me


def wrong(me, **asked):
    return {finding.what: finding for finding in me.doctor(**asked) if not finding.ok}


def test_doctor_finds_nothing_wrong_in_a_sound_store(sound):
    assert wrong(sound) == {}
    assert {"integrity", "index", "vectors", "erasure"} <= {f.what for f in sound.doctor()}


def test_doctor_reports_tampered_terms(sound, store_url):
    run_raw(store_url, "UPDATE terms SET terms = 'rocket engine'")
    finding = wrong(sound)["index"]
    assert "ana" in finding.detail
    assert finding.remedy


def test_doctor_reports_missing_terms(sound, store_url):
    run_raw(store_url, "DELETE FROM terms")
    assert "index" in wrong(sound)


def test_doctor_reports_missing_vectors_and_tidy_repairs(sound, store_url):
    run_raw(store_url, "DELETE FROM vectors")
    assert "vectors" in wrong(sound)
    assert sound.tidy().vectors == 1
    assert wrong(sound) == {}


def test_doctor_reports_a_pending_erasure(sound):
    sound.erase(sound.remember("The code is 4711").id)
    assert wrong(sound)["erasure"].remedy
    sound.tidy()
    assert wrong(sound) == {}


def test_doctor_checks_all_users_only_on_request(book, sound, store_url):
    run_raw(store_url, "UPDATE terms SET terms = 'rocket engine'")
    ben = book.user("ben")
    ben.remember("Hay is cheap")
    assert wrong(ben) == {}
    assert "ana" in wrong(ben, all_users=True)["index"].detail


def test_doctor_counts_sources_and_passages(sound):
    sound.ingest("The red canoe is in the shed")
    assert "1 with 1 passages" in told(sound, "sources")


def told(me, what):
    return next(finding.detail for finding in me.doctor() if finding.what == what)


def test_doctor_reports_a_raw_source_without_a_job(open_book):
    """Its job was cancelled. Ingesting it again queues it, and so does forget and restore."""
    book = open_book(worker="off")
    me = book.user("ana")
    left = [me.ingest(f"{what} is in the shed", wait=False).id for what in ("A canoe", "The map")]
    assert wrong(me) == {}
    for job in me.jobs():
        me.jobs_cancel(job.id)
    finding = wrong(me)["sources"]
    assert all(id in finding.detail for id in left)
    assert "commonplace restore" in finding.remedy
    assert me.ingest("A canoe is in the shed", wait=False).action == "unchanged"
    me.forget(left[1])
    me.restore(left[1])
    assert wrong(me) == {}
    assert book.work(once=True).done == 2
    assert me.stats().source_statuses == {"processed": 2}


def test_doctor_with_a_key_reports_only_the_tenants_own_findings(open_book, store_url):
    """Others' erasures, the whole store, its place and its settings are no tenant's to know."""
    book = open_book()
    me, ben = book.user("ana"), book.user("ben")
    mine = book.authenticate(me.keys_create("laptop").token)
    me.remember("The red canoe is in the shed")
    ben.erase(ben.remember("Hay is cheap").id)
    findings = {finding.what: finding for finding in mine.doctor()}
    assert {"index", "vectors", "erasure"} <= set(findings)
    assert not {"integrity", "settings", "embedder", "reembedding", "versions"} & set(findings)
    assert all(finding.ok for finding in findings.values())
    assert not wrong(me)["erasure"].ok  # who has the store is told of everybody's
    for private in (store_url, "ben", "hashing"):
        assert private not in str(findings)
    me.erase(me.list().memories[0].id)
    assert "erasure" in wrong(mine)


def flipped(vector):
    return bytes([vector[0] ^ 1, *vector[1:]])


@pytest.mark.parametrize("table", ["vectors", "graph_vectors"])
def test_doctor_reports_damaged_vectors_and_tidy_embeds_them_again(sound, store_url, table):
    sound.nodes_add("Dana Cohen")
    sound.tidy()
    (old,) = raw(store_url, f"SELECT vector FROM {table} LIMIT 1")[0]
    damaged = flipped(bytes(old))
    raw(store_url, f"UPDATE {table} SET vector = ?", damaged)
    finding = wrong(sound)["checksums"]
    assert "damaged" in finding.detail
    assert "tidy --reindex" in finding.remedy
    sound.tidy(reindex=True)
    assert wrong(sound) == {}
    assert damaged not in [bytes(row[0]) for row in raw(store_url, f"SELECT vector FROM {table}")]


@pytest.mark.parametrize("column", ["content", "fields"])
def test_doctor_reports_damaged_versions(sound, store_url, column):
    id = sound.list().memories[0].id
    sound.update(id, importance=5)
    run_raw(store_url, f"UPDATE versions SET {column} = REPLACE({column}, 'a', 'b')")
    assert "versions" in wrong(sound)["checksums"].detail


def test_doctor_counts_rows_without_a_checksum_until_tidy_adds_them(sound, store_url):
    run_raw(store_url, "UPDATE vectors SET checksum = NULL")
    run_raw(store_url, "UPDATE versions SET checksum = NULL")
    (finding,) = [each for each in sound.doctor() if each.what == "checksums"]
    assert finding.ok
    assert "2 without a checksum" in finding.detail
    sound.tidy(reindex=True)
    (finding,) = [each for each in sound.doctor() if each.what == "checksums"]
    assert "without" not in finding.detail

"""verify-forget looks into originals as a reader would, and erasing a source empties them."""

from __future__ import annotations

import base64
import json
import quopri

import pytest

SECRET = "the vault opens with שושנה at noon"
HEAD = "From: Noa <noa@example.org>\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n"


def mail(body, encoding, charset="utf-8", head=HEAD):
    kind = f'Content-Type: text/plain; charset="{charset}"\r\n'
    return (head + kind + f"Content-Transfer-Encoding: {encoding}\r\n\r\n").encode() + body


def in_base64(text):
    return base64.encodebytes(text.encode("utf-8"))


QUOTED = f"Yes, gladly.\n\nOn Monday, Ben wrote:\n> {SECRET}\n"  # cut when it is processed
ATTACHED = (
    HEAD + 'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nSee below\r\n--b\r\n'
    "Content-Disposition: attachment; filename=notes.txt\r\n"
    "Content-Transfer-Encoding: base64\r\n\r\n"
).encode() + in_base64(SECRET)
SUBJECT = base64.b64encode(SECRET.encode()).decode()
WRAPPED = "the vault opens\nwith שושנה\nat noon"

ORIGINALS = {
    "plain": SECRET.encode(),
    "in capitals": SECRET.upper().encode(),
    "wrapped": WRAPPED.encode(),
    "utf-16": SECRET.encode("utf-16"),
    "JSON escapes": json.dumps({"speaker": "Noa", "text": SECRET}).encode(),
    "HTML escapes": b"<p>" + SECRET.encode("ascii", "xmlcharrefreplace") + b"</p>",
    "base64": mail(in_base64(SECRET), "base64"),
    "quoted-printable": mail(quopri.encodestring(SECRET.encode()), "quoted-printable"),
    "another charset": mail(SECRET.encode("cp1255"), "8bit", "windows-1255"),
    "a quotation": mail(in_base64(QUOTED), "base64"),
    "an attachment": ATTACHED + b"\r\n--b--\r\n",
    "a subject": mail(b"Hi.", "7bit", head=f"Subject: =?utf-8?b?{SUBJECT}?=\r\n" + HEAD),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_verify_forget_finds_text_in_every_encoding_of_an_original(me, name):
    id = me.ingest(ORIGINALS[name]).id
    assert "originals" in me.verify_forget(SECRET).found_in
    assert me.verify_forget("another sentence").clean
    me.forget(id)
    assert "originals" in me.verify_forget(SECRET).found_in
    me.erase(id)
    assert me.verify_forget(SECRET).clean


def test_erase_source_leaves_a_receipt_and_no_text(me):
    """On both databases: the name it came under and the speakers are gone as well."""
    turn = json.dumps({"speaker": "Shoshana", "text": "The vault opens at noon"})
    id = me.ingest(turn, origin="chat", external_id="vault", thread="heist").id
    fact = me.remember("The vault opens at noon", kind="fact", source_id=id).id
    erased = me.erase("chat:vault", now=True)
    assert set(erased.ids) == {id, fact}
    assert (erased.receipt.items, erased.scrub) == (2, "complete")
    for text in ("vault", "Shoshana", "heist", "noon"):
        assert me.verify_forget(text).clean, text
    assert me.history(id)[0]["event"] == "ERASE"


@pytest.mark.parametrize("name", ORIGINALS)
def test_receipt_is_not_complete_while_another_original_says_the_same(me, name):
    """The receipt is searched for as verify-forget searches."""
    fact = me.remember(SECRET, kind="fact").id
    me.ingest(ORIGINALS[name])
    erased = me.erase(fact, now=True)
    assert erased.scrub == "text remains"
    assert "originals" in erased.receipt.found_in


def test_receipt_looks_for_every_erased_text_also_short_ones(me):
    turns = [{"speaker": "Noa", "text": f"Sentence {n} about the harbour"} for n in range(300)]
    turns.append({"speaker": "Noa", "text": "tulip 47"})  # the shortest
    id = me.ingest("\n".join(map(json.dumps, turns)), format="conversation").id
    me.remember("The code is tulip 47", kind="fact")
    assert me.erase(id, now=True).scrub == "text remains"

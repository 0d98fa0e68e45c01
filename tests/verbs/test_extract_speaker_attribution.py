"""Another one's "I" and "my" are never the owner's, however their words came here."""

from __future__ import annotations

import pytest

TELLING = "I live in Tel Aviv. My husband Yossi works at Intel."
HEBREW = "אני גרה בתל אביב. בעלי יוסי עובד באינטל."


def relations(me):
    return {
        f"{e.from_name} {e.relationship_type} {e.to_name}"
        for e in me.edges(past=True, limit=200).edges
    }


def brought(me, *texts):
    me.profile_set("preferred_name", "Maya Rosen")
    for text in texts:
        me.ingest(text, date="2026-06-17")
    me.extract()
    return relations(me)


@pytest.mark.parametrize(
    "text",
    [
        f"Dana: {TELLING}\nMaya: Yes.",
        f"Dana: {TELLING}",
        f"Dana: {TELLING}\nMaya: Yes.\nOmer: I love it.",
        f"- Dana: {TELLING}\n- Omer: I love it.",
        f"Dana  10:03 AM\n{TELLING}\nMaya  10:04 AM\nYes.",
        f"Letter from Dana:\n\nDear Maya,\n{TELLING}\nLove, Dana",
        f"דנה: {HEBREW}\nמאיה: כן.",
    ],
)
def test_extract_does_not_attribute_pasted_words_of_others_to_the_owner(me, text):
    assert not [each for each in brought(me, text) if "Maya Rosen" in each]
    kept = [each.content for each in me.list(limit=99).memories]
    assert not [each for each in kept if "user" in each or "המשתמש" in each]


def test_extract_attributes_pasted_words_of_the_owner_to_the_owner(me):
    assert "Maya Rosen lives-in Tel Aviv" in brought(me, "Maya: I live in Tel Aviv.")


def test_extract_does_not_read_a_label_as_a_speaker(me):
    assert "Maya Rosen lives-in Tel Aviv" in brought(me, "Note: I live in Tel Aviv.\nTODO: sleep.")


FORWARDED = """From: Dana Levi <dana@levi.example>
To: Maya Rosen <maya@rosen.example>
Subject: Fwd: My new job
Date: Tue, 14 Apr 2026 10:00:00 +0000

Look at this, from my cousin!

---------- Forwarded message ---------
From: Omri Katz <omri@katz.example>
Date: Mon, 13 Apr 2026 at 09:00
Subject: My new job
To: Dana Levi <dana@levi.example>

Hi Dana,
I started working at Nvidia last week. My wife Tamar is pregnant. I live in Yokneam now.
Omri
"""


def test_extract_attributes_a_forwarded_email_to_its_author(me):
    found = brought(me, FORWARDED)
    assert {"Omri Katz works-at Nvidia", "Omri Katz lives-in Yokneam"} <= found
    assert not [each for each in found if each.startswith(("Dana Levi works", "Dana Levi lives"))]
    assert not [each for each in found if "spouse" in each and "Dana Levi" in each]


def mail(sender, day, firm):
    return (
        f"From: {sender}\nTo: Dana Levi <dana@levi.example>\nSubject: Hello\n"
        f"Date: Tue, {day} Apr 2026 10:00:00 +0000\nMessage-ID: <{day}@rosen.example>\n\n"
        f"Hi Dana, I work at {firm}.\n"
    )


@pytest.mark.parametrize("days", [(14, 15), (15, 14)])
def test_extract_recognises_the_owner_by_email_address_in_any_order(me, days):
    named, short = days
    brought(
        me,
        mail("Maya Rosen <maya@rosen.example>", named, "Wix"),
        mail("M. R. <maya@rosen.example>", short, "Google"),
    )
    assert [node.name for node in me.people().nodes] == ["Maya Rosen"]
    assert me.node("me").node.addresses == ("maya@rosen.example",)
    assert {"Maya Rosen works-at Wix", "Maya Rosen works-at Google"} <= relations(me)


@pytest.mark.parametrize("days", [(14, 15), (15, 14)])
def test_extract_keeps_people_with_a_shared_email_address_separate(me, days):
    mine, his = days
    found = brought(
        me,
        mail("Maya Rosen <family@rosen.example>", mine, "Wix"),
        mail("Ben Rosen <family@rosen.example>", his, "Google"),
    )
    assert found == {"Maya Rosen works-at Wix", "Ben Rosen works-at Google"}


def said(me, text, date):
    return me.ingest(f"Maya: {text}\nNoa: Ok.\nMaya: Yes.", date=date).id


def standing(me):
    return {f"{e.from_name} {e.relationship_type} {e.to_name}" for e in me.edges(limit=200).edges}


@pytest.mark.parametrize(
    ("first", "then", "over", "now"),
    [
        ("I love sushi.", "I hate sushi now.", "likes", "dislikes"),
        ("I hate sushi.", "I love sushi these days.", "dislikes", "likes"),
    ],
)
def test_extract_ends_an_attitude_contradicted_later_and_erase_reverts(me, first, then, over, now):
    me.profile_set("preferred_name", "Maya Rosen")
    said(me, first, "2026-01-10")
    later = said(me, then, "2026-02-10")
    me.extract()
    assert standing(me) == {f"Maya Rosen {now} sushi"}
    assert [node.name for node in me.concepts().nodes] == ["sushi"]
    me.erase([later])
    assert standing(me) == {f"Maya Rosen {over} sushi"}


def test_extract_ends_a_marriage_on_separation_and_erase_reverts(me):
    me.profile_set("preferred_name", "Maya Rosen")
    said(me, "Amy Stone is married to Dan Katz.", "2026-01-10")
    later = said(me, "Amy Stone and Dan Katz separated.", "2026-02-10")
    me.extract()
    assert standing(me) == set()
    assert len(relations(me)) == 1
    me.erase([later])
    assert [each for each in standing(me) if "spouse" in each]

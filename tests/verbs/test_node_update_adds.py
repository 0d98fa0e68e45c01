"""What is said of a node is added to what was said before, and nothing more is written down as
somebody's own word than what they said."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotFound, TooLong


@pytest.fixture
def lee(me):
    told = {"description": "My dentist, in Haifa", "aliases": ["Leah"], "addresses": ["lee@x.org"]}
    return me.nodes_add("Lee Ann", **told).id


# ——— what is not given stays ———


def test_nodes_update_adds_aliases(me, lee, clock):
    clock.tick(days=1)
    assert me.nodes_update("Lee Ann", aliases=["LA"]).node.aliases == ("Leah", "LA")
    assert me.node("Leah").node.id == lee


def test_nodes_update_adds_addresses(me, lee, clock):
    clock.tick(days=1)
    after = me.nodes_update(lee, addresses=["lee@y.org"]).node
    assert after.addresses == ("lee@x.org", "lee@y.org")


@pytest.mark.parametrize("more", [{}, {"aliases": ["LA"]}, {"description": "My doctor"}])
def test_nodes_add_again_keeps_earlier_fields(me, lee, clock, more):
    clock.tick(days=1)
    again = me.nodes_add("lee  ann", **more)
    assert (again.id, again.is_new, again.node.name) == (lee, False, "Lee Ann")
    assert again.node.aliases == ("Leah", *more.get("aliases", ()))
    assert again.node.addresses == ("lee@x.org",)
    assert again.node.description == more.get("description", "My dentist, in Haifa")


def test_nodes_add_again_keeps_the_entity_type(me):
    acme = me.nodes_add("Acme", node_type="Entity", type="organization").id
    again = me.nodes_add("Acme", node_type="Entity", description="Makes anvils").node
    assert (again.id, again.subtype) == (acme, "organization")


def test_nodes_add_again_sets_a_missing_entity_type(me):
    acme = me.nodes_add("Acme", node_type="Entity").id
    assert me.nodes_add("Acme", node_type="Entity", type="organization").id == acme
    assert me.nodes_add("Acme", node_type="Entity", type="product").id != acme


def test_nodes_update_not_addresses_removes_an_address_until_added_again(me, lee, clock):
    clock.tick(days=1)
    assert me.nodes_update(lee, not_addresses=["LEE@x.org"]).node.addresses == ()
    clock.tick(days=1)
    assert me.nodes_update(lee, description="A friend").node.addresses == ()
    clock.tick(days=1)
    assert me.nodes_update(lee, addresses=["lee@x.org"]).node.addresses == ("lee@x.org",)


def test_nodes_update_not_addresses_removes_an_address_from_a_source(me, clock):
    mail = (
        "From: Dana Levi <dana@acme.example>\nTo: ana@x.org\nSubject: Hi\n"
        "Date: Mon, 5 Jan 2026 10:00:00 +0000\n\nI work at Acme Labs. Say hello to Ben Cohen."
    )
    me.extract([me.ingest(mail, format="email").id])
    assert me.node("Dana Levi").node.addresses == ("dana@acme.example",)
    clock.tick(days=1)
    after = me.nodes_update("Dana Levi", not_addresses=["dana@acme.example"]).node
    assert after.addresses == ()


def test_verify_forget_finds_removed_aliases_until_erase(me, lee, clock):
    clock.tick(days=1)
    me.nodes_update(lee, not_aliases=["Zebrowitz"])
    assert not me.verify_forget("Zebrowitz").clean
    me.erase([lee], now=True)
    assert me.verify_forget("Zebrowitz").clean


def test_nodes_update_limits_the_number_of_aliases(me, lee):
    me.nodes_update(lee, aliases=[f"Lee {n}" for n in range(99)])
    with pytest.raises(TooLong) as refused:
        me.nodes_update(lee, aliases=["One too many"])
    assert refused.value.field == "aliases"


# ——— only what they said ———


def talk(me, said, date="2026-01-05"):
    id = me.ingest(f"Ana: {said}", format="transcript", date=date, external_id=said).id
    me.extract([id])
    return id


@pytest.fixture
def dana(me):
    """Called Dana by one source, and by her full name only by another."""
    me.profile_set("preferred name", "Ana")
    short = talk(me, "Dana is my manager.")
    full = talk(me, "My manager Dana Zebrowitz lives in Haifa.", date="2026-01-06")
    assert me.node("Dana").node.name == "Dana Zebrowitz"
    return short, full


SAYINGS = [
    lambda me, named: me.note(named, "likes tea"),
    lambda me, named: me.nodes_update(named, description="Drinks tea"),
    lambda me, named: me.nodes_update(named, aliases=["Didi"]),
    lambda me, named: me.relate("me", named, "friend"),
]


@pytest.mark.parametrize("say", SAYINGS)
@pytest.mark.parametrize("by_id", [False, True])
def test_erase_source_removes_its_node_name_despite_user_assertions(me, dana, say, by_id):
    id = me.node("Dana").node.id
    say(me, id if by_id else "Dana")
    assert me.node(id).node.name == "Dana Zebrowitz"
    me.erase([dana[1]], now=True)
    assert me.node(id).node.name == "Dana"
    assert me.verify_forget("Zebrowitz").clean


@pytest.mark.parametrize("say", SAYINGS)
def test_erase_source_keeps_a_node_under_the_name_given_by_the_user(me, dana, say):
    say(me, "dana")
    me.erase(dana, now=True)
    assert "Dana" in {node.name for node in me.people().nodes}
    assert me.verify_forget("Zebrowitz").clean


def test_erase_source_leaves_a_node_addressed_by_id_unnamed(me, dana):
    id = me.node("Dana").node.id
    me.note(id, "likes tea")
    me.erase(dana, now=True)
    shown = me.node(id)
    assert shown.node.name == "Somebody"
    assert [note.content for note in shown.notes] == ["likes tea"]
    assert me.nodes_update(id, name="Dana Levi").node.name == "Dana Levi"


def test_note_by_short_name_adds_no_alias(me):
    talk(me, "My friend Sarah Chen works at Acme.")
    me.note("Sarah", "likes tea")
    shown = me.node("Sarah Chen").node
    assert (shown.name, shown.aliases) == ("Sarah Chen", ())


def test_export_and_import_preserve_a_node_addressed_by_id(me, dana, open_book):
    me.note(me.node("Dana").node.id, "likes tea")
    other = open_book().user("bea")
    other.import_(list(me.export()))
    assert other.node("Dana").node.name == "Dana Zebrowitz"


# ——— one that is there already ———


@pytest.fixture
def lena(me):
    me.profile_set("preferred name", "Maya")
    return me.nodes_add("Lena Hoffmann", aliases=["Lena"]).id


def test_nodes_add_with_an_alias_updates_the_existing_node(me, lena):
    again = me.nodes_add("lena", description="A friend")
    assert (again.id, again.is_new) == (lena, False)
    assert (again.node.name, again.node.aliases) == ("Lena Hoffmann", ("Lena",))
    assert [node.id for node in me.people().nodes if not node.is_owner] == [lena]


def test_nodes_add_with_another_type_makes_another_node(me, lena):
    assert me.nodes_add("Lena", node_type="Entity", type="product").id != lena


def test_nodes_add_refuses_an_ambiguous_name_and_lists_candidates(me, lena):
    weiss = me.nodes_add("Lena Weiss", aliases=["Lena"]).id
    with pytest.raises(InvalidInput) as refused:
        me.nodes_add("Lena", description="A friend")
    for told in ("Lena Hoffmann", lena, "Lena Weiss", weiss):
        assert told in refused.value.message
    assert "longer name" in refused.value.remedy
    assert me.nodes_add("Lena Stone").is_new


@pytest.mark.parametrize("name", ["me", "Me", "maya", "Maya"])
def test_nodes_add_with_a_name_of_the_owner_updates_the_owner_node(me, name):
    me.profile_set("preferred name", "Maya")
    said = me.nodes_add(name, description="Likes hiking")
    assert said.node.is_owner
    assert said.node.name == "Maya"
    assert me.node("me").node.description == "Likes hiking"
    assert [node.name for node in me.people().nodes] == ["Maya"]


def test_nodes_add_by_an_agent_does_not_reveal_hidden_names(book):
    cleared = book.user("ana", cleared=True)
    said = "Ana: My friend Sarah Chen works at Acme."
    cleared.extract([cleared.ingest(said, format="transcript", sensitivity="high").id])
    sarah = cleared.node("Sarah Chen").node.id
    cleared.nodes_update(sarah, aliases=["Sally"], addresses=["sally@x.org"])
    agent = book.user("ana").agent("reader")
    made = agent.nodes_add("Sally", addresses=["sally@x.org"])
    assert made.is_new
    assert made.id != sarah
    assert agent.nodes_add("Tom Chen", aliases=["Sarah Chen"]).is_new


# ——— what names may be ———


@pytest.mark.parametrize(
    "name",
    [
        "node:abc",
        "Edge:1",
        "source:x",
        "note: call Tom",
        "profile:name",
        "019a9a9a-0000-7000-8000-000000000000",
        "x\u0007",
        "a\nb",
        "\u202eevil",
        "x\u2066y",
        "x" * 201,
        "?\u200b" * 101,
    ],
)
def test_node_verbs_refuse_invalid_names(me, lee, name):
    for say in (
        lambda: me.nodes_add(name),
        lambda: me.nodes_add("Dana Levi", aliases=[name]),
        lambda: me.nodes_update(lee, name=name),
        lambda: me.nodes_update(lee, aliases=[name]),
        lambda: me.split(lee, name=name, names=["Leah"]),
    ):
        with pytest.raises(InvalidInput):
            say()
    assert [node.name for node in me.people().nodes if not node.is_owner] == ["Lee Ann"]


@pytest.mark.parametrize("name", ["Node", "The source: spring", "R2:D2", "נעמה", "x" * 200])
def test_nodes_add_accepts_unusual_valid_names(me, name):
    id = me.nodes_add(name).id
    assert me.node(name).node.id == id


def test_node_names_collapse_whitespace(me, lee):
    assert me.nodes_update(lee, name="Lee \u00a0 Anna").node.name == "Lee Anna"
    assert me.nodes_add("  Tom   Chen ", aliases=["T.  C."]).node.names == ("Tom Chen", "T. C.")


def test_node_verbs_refuse_a_name_or_address_of_another_node(me, lee):
    dana = me.nodes_add("Dana Levi", addresses=["dana@x.org"]).id
    for say, field, whose in (
        (lambda: me.nodes_update(lee, aliases=["dana levi"]), "aliases", dana),
        (lambda: me.nodes_add("Tom Chen", aliases=["Lee Ann"]), "aliases", lee),
        (lambda: me.nodes_add("Dana Levi", aliases=["Lee Ann"]), "aliases", lee),
        (lambda: me.nodes_update(lee, addresses=["DANA@x.org"]), "addresses", dana),
        (lambda: me.nodes_add("Tom Chen", addresses=["lee@x.org"]), "addresses", lee),
    ):
        with pytest.raises(InvalidInput) as refused:
            say()
        assert refused.value.field == field
        assert whose in refused.value.message
        assert "merge" in refused.value.remedy
    with pytest.raises(NotFound):
        me.node("Tom Chen")


@pytest.mark.parametrize("name", ["me", "Maya"])
def test_nodes_update_refuses_a_name_of_the_owner_for_another_node(me, lee, name):
    me.profile_set("preferred name", "Maya")
    for changes in ({"name": name}, {"aliases": [name]}):
        with pytest.raises(InvalidInput) as refused:
            me.nodes_update(lee, **changes)
        assert "owner" in refused.value.message

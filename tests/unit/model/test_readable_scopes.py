"""A scope is read once, however many ways lead there."""

from __future__ import annotations

from commonplace.model.access.principal import ReadableScope, Scope, merge_readable_scopes

OWN = ReadableScope(Scope.of_user("ana"))
TEAM = Scope("team:gardeners")
BOB = Scope.of_user("bob")


def granted(scope, *sources):
    return ReadableScope(scope, is_own=False, sources=frozenset(sources))


def test_merge_readable_scopes_keeps_the_order():
    team = ReadableScope(TEAM, is_own=False)
    assert merge_readable_scopes([OWN, team, granted(BOB, "source:1")]) == (
        OWN,
        team,
        granted(BOB, "source:1"),
    )


def test_merge_readable_scopes_prefers_membership_over_a_grant():
    team = ReadableScope(TEAM, is_own=False)
    for ways in ([team, granted(TEAM, "source:1")], [granted(TEAM, "source:1"), team]):
        assert merge_readable_scopes(ways) == (team,)
    assert merge_readable_scopes([OWN, granted(OWN.scope, "source:1")]) == (OWN,)


def test_merge_readable_scopes_unites_grants_of_one_scope():
    assert merge_readable_scopes([granted(BOB, "source:1"), granted(BOB, "source:2")]) == (
        granted(BOB, "source:1", "source:2"),
    )


def test_readable_scope_with_an_empty_grant_covers_nothing():
    nothing = granted(BOB)
    assert nothing.key != ReadableScope(BOB, is_own=False).key
    assert not nothing.covers("source:1")
    assert ReadableScope(BOB, is_own=False).covers("source:1")

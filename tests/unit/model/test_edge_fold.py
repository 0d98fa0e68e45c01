"""How what was told of a relation becomes edges, each over its own stretch of two times."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.graph.assertion import CitedSource, EdgeAssertion
from commonplace.model.graph.edge_fold import fold_edges
from commonplace.model.graph.types import canonical_relationship
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType


def day(number):
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def told(id, b, since, *, a="p", type="works-at", learned=None, **more):
    return EdgeAssertion(
        id=str(id),
        edge="",
        a=a,
        b=b,
        type=type,
        source=None,
        by="user:ana",
        recorded_at=day(since if learned is None else learned),
        valid_from=day(since),
        **more,
    )


def shown(assertions):
    return [
        (each.b, each.valid_from, each.valid_to, each.recorded_at, each.invalidated_at)
        for each in fold_edges(assertions)
    ]


def test_edge_fold_new_employer_ends_the_previous_in_both_times():
    told_later = [told(1, "Acme", 0), told(2, "Globex", 10, learned=12)]
    assert shown(told_later) == [
        ("Acme", day(0), day(10), day(0), day(12)),
        ("Globex", day(10), None, day(12), None),
    ]


def test_edge_fold_newer_statement_with_an_earlier_start_holds():
    """Told on day 11 that she is at Globex, on day 16 that she has been at Acme since day 0."""
    retold = [told(1, "Globex", 11), told(2, "Acme", 0, learned=16)]
    assert shown(retold) == [
        ("Acme", day(0), None, day(16), None),
        ("Globex", day(11), day(11), day(11), day(16)),
    ]
    again = told(3, "Globex", 20)
    assert ends([*retold[1:], again]) == {"Acme": day(20), "Globex": None}
    past = told(2, "Acme", 0, learned=16, valid_to=day(5))
    assert ends([retold[0], past]) == {"Acme": day(5), "Globex": None}


def cited(passage, source="source:1"):
    return CitedSource(
        scope="user:ana",
        id=source,
        source_type=SourceType.MEETING,
        said_at=day(0),
        passage=passage,
    )


def ends(assertions):
    return {each.b: each.valid_to for each in fold_edges(assertions)}


def both(since, *names):
    """Two jobs that one passage tells of."""
    return [
        replace(told(f"{since} {name}", name, since), source=cited(1, f"source:{since}"))
        for name in names
    ]


def test_edge_fold_keeps_jobs_of_one_passage_concurrent():
    jobs = both(0, "Acme", "Globex")
    assert ends(jobs) == {"Acme": None, "Globex": None}
    assert ends([*jobs, told(3, "Initech", 10)]) == {
        "Acme": day(10),
        "Globex": day(10),
        "Initech": None,
    }
    elsewhere = replace(jobs[1], source=cited(2, "source:0"))
    assert ends([jobs[0], elsewhere]) == {"Acme": day(0), "Globex": None}


def test_edge_fold_repeated_mention_keeps_the_concurrent_job():
    jobs = [*both(0, "Acme", "Globex"), told(3, "Acme", 10)]
    assert ends(jobs) == {"Acme": None, "Globex": None}
    assert len(fold_edges(jobs)) == 2
    left = told(4, "Acme", 20, ends=True)
    assert ends([*jobs, left]) == {"Acme": day(20), "Globex": None}


def test_edge_fold_two_new_jobs_end_the_previous():
    assert ends([told(1, "Initech", 0), *both(10, "Acme", "Globex")]) == {
        "Initech": day(10),
        "Acme": None,
        "Globex": None,
    }


def test_edge_fold_keeps_several_friends():
    assert all(
        end is None
        for _, _, end, _, _ in shown(
            [told(1, "x", 0, type="friend"), told(2, "y", 5, type="friend")]
        )
    )


def held(assertions):
    return [(each.type, each.valid_from, each.valid_to) for each in fold_edges(assertions)]


def test_edge_fold_dislike_ends_like_of_the_same_object():
    turned = [told(1, "sushi", 0, type="likes"), told(2, "sushi", 10, type="dislikes")]
    assert held(turned) == [("likes", day(0), day(10)), ("dislikes", day(10), None)]
    of_two = [told(1, "sushi", 0, type="likes"), told(2, "olives", 10, type="dislikes")]
    assert [end for _, _, end in held(of_two)] == [None, None]


def test_edge_fold_separation_ends_the_marriage_of_that_couple():
    over = told(2, "Dan", 10, type="partner", ends=True)
    assert held([told(1, "Dan", 0, type="spouse"), over]) == [("spouse", day(0), day(10))]
    assert held([over]) == [("partner", day(10), day(10))]
    another = told(1, "Ben", 0, type="spouse")
    assert ("spouse", day(0), None) in held([another, over])


def test_edge_fold_partner_assertion_keeps_the_marriage():
    both = [told(1, "Dan", 0, type="spouse"), told(2, "Dan", 10, type="partner")]
    assert held(both) == [("spouse", day(0), None), ("partner", day(10), None)]


def test_edge_fold_joins_repeated_assertions_into_one_period():
    assert shown([told(1, "Acme", 3), told(2, "Acme", 0, learned=9)]) == [
        ("Acme", day(0), None, day(3), None)
    ]


def test_edge_fold_return_to_an_employer_is_a_new_period():
    path = [told(1, "Acme", 0), told(2, "Globex", 10), told(3, "Acme", 20)]
    assert [(b, start, end) for b, start, end, _, _ in shown(path)] == [
        ("Acme", day(0), day(10)),
        ("Globex", day(10), day(20)),
        ("Acme", day(20), None),
    ]


def test_edge_fold_changed_attitude_starts_a_new_edge():
    friends = [
        told(1, "d", 0, type="friend", attitude=4),
        told(2, "d", 5, type="friend"),
        told(3, "d", 9, type="friend", attitude=1),
    ]
    made = fold_edges(friends)
    assert [(each.attitude, each.valid_to) for each in made] == [(4, day(9)), (1, None)]


def test_edge_fold_another_reader_of_the_same_words_changes_no_attitude():
    def read(id, by, attitude, passage):
        likes = told(id, "d", 0, type="likes", attitude=attitude)
        return replace(likes, by=by, source=cited(passage))

    rules, model = read(1, "worker:extract", 4, 1), read(2, "worker:model", 5, 1)
    assert [(each.attitude, each.valid_to) for each in fold_edges([rules, model])] == [(4, None)]
    later = read(2, "worker:model", 5, 2)
    assert [each.attitude for each in fold_edges([rules, later])] == [4, 5]


def test_edge_fold_end_assertion_closes_or_creates_a_past_edge():
    left = told(2, "Acme", 7, learned=8, ends=True)
    assert shown([told(1, "Acme", 0), left]) == [("Acme", day(0), day(7), day(0), day(8))]
    assert shown([left]) == [("Acme", day(7), day(7), day(8), day(8))]


def test_edge_fold_end_assertion_after_a_job_change_adds_no_edge():
    for left_on in (10, 16):
        moved = [
            told(1, "Acme", 0),
            told(2, "Globex", 10),
            told(3, "Acme", left_on, learned=16, ends=True),
        ]
        assert shown(moved) == [
            ("Acme", day(0), day(10), day(0), day(10)),
            ("Globex", day(10), None, day(10), None),
        ]


def test_edge_fold_marriage_ends_previous_marriages_of_both_partners():
    couples = [
        told(1, "b", 0, a="a", type="spouse"),
        told(2, "d", 0, a="c", type="spouse"),
        told(3, "c", 9, a="b", type="spouse"),
    ]
    ends = {each.assertions: each.valid_to for each in fold_edges(couples)}
    assert ends == {("1",): day(9), ("2",): day(9), ("3",): None}


def test_canonical_relationship_is_independent_of_direction():
    assert canonical_relationship("boss", "ana", "manages") == ("ana", "boss", "reports-to")
    assert canonical_relationship("b", "a", "friend") == canonical_relationship("a", "b", "friend")


def test_edge_fold_sensitive_assertion_does_not_shape_an_open_edge():
    guarded = CitedSource(
        scope="user:ana",
        id="source:1",
        source_type=SourceType.CHAT,
        said_at=day(0),
        sensitivity=Sensitivity.HIGH,
    )
    secret = told(1, "d", 0, type="friend", description="secret")
    secret = EdgeAssertion(
        **{f: getattr(secret, f) for f in secret.__slots__ if f != "source"}, source=guarded
    )
    open_one = told(2, "d", 1, type="friend", description="open")
    both, alone = fold_edges([secret, open_one]), fold_edges([secret])
    assert [(each.description, each.sensitivity) for each in both] == [("open", Sensitivity.NORMAL)]
    assert alone[0].sensitivity is Sensitivity.HIGH


TELLINGS = st.lists(
    st.fixed_dictionaries(
        {
            "b": st.sampled_from("xyz"),
            "since": st.integers(0, 30),
            "learned": st.integers(0, 60),
            "ends": st.booleans(),
            "attitude": st.sampled_from([None, 2, 4]),
            "type": st.sampled_from(["works-at", "friend", "spouse"]),
            "beside": st.booleans(),
        }
    ),
    max_size=8,
)


@given(TELLINGS, st.randoms())
def test_edge_fold_is_independent_of_assertion_order(made, dice):
    assertions = [told(n, **each) for n, each in enumerate(made)]
    expected = set(fold_edges(assertions))
    mixed = list(assertions)
    dice.shuffle(mixed)
    assert set(fold_edges(mixed)) == expected
    assert sorted(id for each in expected for id in each.assertions) == sorted(
        t.id for t in assertions
    )
    assert all(each.valid_to is None or each.valid_from <= each.valid_to for each in expected)


@given(TELLINGS)
def test_edge_fold_allows_one_employer_at_a_time(made):
    alone = {"type": "works-at", "beside": False}
    assertions = [told(n, **{**each, **alone}) for n, each in enumerate(made)]
    for moment in range(61):
        holding = [
            each
            for each in fold_edges(assertions)
            if each.valid_from <= day(moment)
            and (each.valid_to is None or day(moment) < each.valid_to)
        ]
        assert len({each.b for each in holding}) <= 1


def test_edge_fold_concurrent_assertion_neither_ends_nor_is_ended():
    jobs = [told(1, "Acme", 0), told(2, "Globex", 5, beside=True), told(3, "Initech", 9)]
    ends = {b: end for b, _, end, _, _ in shown(jobs)}
    assert ends == {"Acme": day(9), "Globex": None, "Initech": None}


def test_edge_fold_concurrent_repeat_joins_the_existing_edge():
    jobs = [told(1, "Globex", 0), told(2, "Acme", 3), told(3, "Globex", 5, beside=True)]
    assert [(b, end) for b, _, end, _, _ in shown(jobs)] == [("Globex", None), ("Acme", None)]


def test_edge_fold_concurrent_edge_ends_by_an_end_assertion():
    jobs = [told(1, "Globex", 0, beside=True), told(2, "Globex", 8, ends=True)]
    assert [(b, end) for b, _, end, _, _ in shown(jobs)] == [("Globex", day(8))]


def test_edge_fold_concurrent_edge_is_not_ended_by_its_opposite():
    likes = [told(1, "x", 0, type="likes", beside=True), told(2, "x", 5, type="dislikes")]
    jobs = [told(1, "x", 0, beside=True), told(2, "x", 5, type="declined-offer")]
    for assertions in (likes, jobs):
        assert [end for _, _, end, _, _ in shown(assertions)] == [None, None]

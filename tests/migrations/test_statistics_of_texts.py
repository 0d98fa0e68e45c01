"""PostgreSQL's ANALYZE keeps samples of columns: it must keep none of what users wrote, or erased
words would stay in its statistics."""

import pytest

import commonplace
from support.stores import raw

# Ids, and words of closed lists, by table: none of them is a user's. A new column is named here, or
# gets SET STATISTICS 0 in its migration.
_IDS = (
    "a about after_ref anchor b conflict edge id item merged_into new_ref node old_ref run scope "
    "source subject superseded_by team_id user_id cited_id beside"
)
_LISTED = (
    "actor agent cited_sensitivity cited_type content_type context_type error error_code event "
    "kind node op relation role results schedule sensitivity stability standing state status task "
    "tasks ttl_policy type verb why worker"
)
_DIGESTS = "digest name prompt request model day embedder found_in mentioned value"
OURS = frozenset(f"{_IDS} {_LISTED} {_DIGESTS}".split())
OURS_IN_A_TABLE = {("shares", "source_id"), ("sources", "source_type")}


@pytest.fixture
def url(request):
    server = request.getfixturevalue("postgres")
    url = server.database()
    yield url
    server.give_back(url)


def test_columns_with_words_of_users_are_not_sampled(url):
    with commonplace.open(url, embedder="hashing"):
        pass
    sampled = raw(
        url,
        "SELECT c.relname, a.attname FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
        "   AND a.attnum > 0 AND NOT a.attisdropped"
        "   AND c.relnamespace = current_schema()::regnamespace"
        "   AND a.atttypid = 'text'::regtype AND COALESCE(a.attstattarget, -1) <> 0",
    )
    assert {each for each in map(tuple, sampled) if each[1] not in OURS} == OURS_IN_A_TABLE

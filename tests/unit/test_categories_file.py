"""The file of categories and allowlists: each mistake is named with its line, a change counts at
once, and a wrong change does not count at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import commonplace
from commonplace.api.categories_file import (
    MAX_BYTES,
    SHIPPED_ORIGIN,
    CategoriesFile,
    load_shipped_categories,
    parse_categories,
)
from commonplace.errors import BadCategories
from commonplace.model.memory.kinds import (
    BUILT_IN_CATEGORIES,
    DEFAULT_ALLOWLIST,
    DEFAULT_RAG_LENGTH,
    ContextMode,
)

GOOD = """
categories:
  system:
    - {name: profile, context: all}
    - {name: tasks, context: rag, rag_length: 7}
    - knowledge
  custom:
    - house
allowlists:
  planner: [tasks, house]
  default: []
"""


def complaint(text: str) -> str:
    with pytest.raises(BadCategories) as wrong:
        parse_categories(text, "my.yaml")
    assert wrong.value.field == "categories"
    return wrong.value.message


# ——— what it says ———


def test_categories_file_reads_categories_modes_and_allowlists():
    said = parse_categories(GOOD, "my.yaml")
    assert list(said.categories) == ["profile", "tasks", "knowledge", "house"]
    assert said.known("profile").context is ContextMode.ALL
    assert (said.known("tasks").context, said.known("tasks").rag_length) == (ContextMode.RAG, 7)
    assert (said.known("knowledge").rag_length, said.known("knowledge").line) == (
        DEFAULT_RAG_LENGTH,
        6,
    )
    assert (said.known("house").system, said.known("tasks").system) == (False, True)
    assert said.allowed("planner") == {"tasks", "house"}
    assert said.allowlist_of("planner").line == 10
    assert said.allowed("somebody") == said.allowed(DEFAULT_ALLOWLIST) == frozenset()
    assert [each.name for each in said.in_mode(ContextMode.ALL)] == ["profile"]
    assert said.readers_of("tasks") == ("planner",)
    assert said.origin == "my.yaml"


def test_shipped_categories_are_the_built_in_categories():
    said = load_shipped_categories()
    assert set(said.categories) == BUILT_IN_CATEGORIES
    assert all(category.system for category in said.categories.values())


def test_shipped_allowlists_match_the_contract():
    said = load_shipped_categories()
    everyone = {"identity", "constraints"}
    assert said.allowed("planner") == {"goals", "tasks", "projects", "procedural"} | everyone
    assert said.allowed("stylist") == {"preferences", "tone", "style"} | everyone
    assert said.allowed("researcher") == {"knowledge", "interests", "history"} | everyone
    assert said.allowed("executor") == {"tasks", "recent_activity", "procedural"} | everyone
    supervisor = {"profile", "goals", "preferences", "event", "activity", "relationships", "tasks"}
    also = {"projects", "knowledge", "interests", "history", "relationship_dynamic"}
    assert said.allowed("supervisor") == supervisor | also | everyone
    assert said.allowed("any other") == {
        *("profile", "preferences", "goals", "tasks", "projects", "knowledge", "event"),
        *("interests", "activity", "history", "relationships", "identity", "constraints"),
    }


# The example of the design document, word by word.
SEED_FILE = """\
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
"""


def test_categories_file_may_name_shipped_categories_that_it_does_not_list():
    said = parse_categories(SEED_FILE, "my.yaml")
    assert said.allowed("planner") == {"goals", "tasks", "projects"}
    assert said.categories["goals"] == load_shipped_categories().categories["goals"]
    assert "procedural" not in said.categories  # neither listed nor named


@pytest.mark.parametrize("text", ["", "# nothing but a remark\n", "{}"])
def test_categories_file_that_is_empty_uses_the_shipped_values(text):
    said = parse_categories(text, "my.yaml")
    assert (said.categories, said.allowlists.keys()) == (
        load_shipped_categories().categories,
        load_shipped_categories().allowlists.keys(),
    )


def test_categories_file_missing_parts_use_the_shipped_values():
    lists = parse_categories("allowlists: {planner: [tasks]}", "my.yaml")
    assert lists.categories == load_shipped_categories().categories
    assert list(lists.allowlists) == ["planner"]
    more = parse_categories("categories: {custom: [house]}", "my.yaml")
    assert more.categories.keys() == {*BUILT_IN_CATEGORIES, "house"}
    assert more.allowed("stylist") == load_shipped_categories().allowed("stylist")
    fewer = parse_categories("categories: {system: [tasks]}", "my.yaml")
    assert fewer.allowed("planner") == {"tasks"}  # of the shipped list, what there is


def test_default_allowlist_applies_to_an_agent_named_default():
    said = parse_categories("allowlists: {default: [tasks], planner: [goals]}", "my.yaml")
    assert said.allowed("default") == said.allowed("Default") == {"tasks"}
    none = parse_categories("allowlists: {planner: [goals]}", "my.yaml")
    assert none.allowed("default") == none.allowed("anybody") == frozenset()


def test_allowlist_agent_names_are_case_insensitive():
    said = parse_categories("allowlists: {Planner: [goals], DEFAULT: [tasks]}", "my.yaml")
    assert said.allowed("planner") == said.allowed(" PLANNER ") == {"goals"}
    assert said.allowed("anybody") == {"tasks"}


def test_categories_explain_marks_unlisted_categories():
    with commonplace.open(":memory:", embedder="hashing") as book:
        me = book.user("ana")
        me.remember("Water the ferns", category="garden")
        assert me.categories_explain("tasks").is_named
        assert not me.categories_explain("garden").is_named
        assert not me.categories_explain("nosuch").is_named


# ——— what is wrong with it, and where ———

WRONG = [
    ("categories: [tasks]", 1, "a map of system, custom is expected here"),
    ("\nagents: {}", 2, "'agents' is not known here, only categories, allowlists"),
    ("categories:\n  systen: []", 2, "'systen' is not known here, only system, custom"),
    ("categories:\n  custom:\n    - {nam: house}", 3, "'nam' is not known here"),
    ("categories:\n  custom:\n    - {context: all}", 3, "a category needs a name"),
    ("categories:\n  custom:\n    - house\n    - house", 4, "there are two categories 'house'"),
    ("categories:\n  custom:\n    - tasks", 3, "there are two categories 'tasks'"),
    ("categories:\n  custom: house", 2, "a list is expected here"),
    ("categories:\n  custom:\n    - [house]", 3, "a map of name, "),
    ("categories:\n  custom:\n    - ''", 3, "a name of letters, digits, - and _ is expected here"),
    (
        'categories:\n  custom:\n    - "a\\nb"',
        3,
        "a name of letters, digits, - and _ is expected here",
    ),
    (
        f"categories:\n  custom:\n    - {'x' * 65}",
        3,
        "a name of letters, digits, - and _ is expected here",
    ),
    (
        "categories:\n  custom:\n    - {name: [a]}",
        3,
        "a name of letters, digits, - and _ is expected here",
    ),
    ("categories:\n  custom:\n    - name: a\n      context: some", 4, "context is all or rag"),
    ("categories:\n  custom:\n    - name: a\n      context: [all]", 4, "context is all or rag"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: -1", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: 1001", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: many", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      name: b", 4, "name is given twice"),
    ("categories: {}\ncategories: {}", 2, "categories is given twice"),
    ("allowlists: [planner]", 1, "allowlists are a map from an agent to its categories"),
    ("allowlists:\n  planner: tasks", 2, "a list is expected here"),
    ("allowlists:\n  planner: [tasks]\n  planner: []", 3, "there are two allowlists of 'planner'"),
    ("allowlists:\n  planner: [tasks]\n  Planner: []", 3, "there are two allowlists of 'Planner'"),
    ("allowlists:\n  planner: [taks]", 2, "names 'taks', which is no category; did you mean"),
    ("allowlists:\n  planner:\n    - tasks\n    - Tasks", 4, "names 'Tasks', which is no category"),
    ("allowlists:\n  planner: [qqqq]", 2, "names 'qqqq', which is no category."),
    ("allowlists:\n  planner: [[tasks]]", 2, "a name of letters, digits, - and _ is expected here"),
    ("allowlists:\n  [a, b]: [tasks]", 2, "a name of letters, digits, - and _ is expected here"),
    ("- tasks", 1, "a map of categories, allowlists is expected here"),
    ("just words", 1, "a map of categories, allowlists is expected here"),
]


@pytest.mark.parametrize(("text", "line", "told"), WRONG)
def test_categories_file_error_names_the_line(text, line, told):
    message = complaint(text)
    assert message.startswith(f"my.yaml, line {line}: ")
    assert told in message


def test_categories_file_error_suggests_a_similar_name():
    assert complaint("allowlists: {planner: [taks]}").endswith("; did you mean 'tasks'?")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("categories:\n  system: [\n", 3),
        ("a: b: c", 1),
        ("categories:\n\tcustom: []", 2),
        ("categories: *nowhere", 1),
        ("categories: {custom: [!!python/object/apply:os.system [ls]]}", 1),
        ("--- {}\n--- {}", 2),
        ("categories: \x07", None),
    ],
)
def test_categories_file_refuses_invalid_or_tagged_yaml(text, line):
    """Nothing in it is ever made or run: only names and lists are read."""
    assert complaint(text).startswith(f"my.yaml, line {line}: " if line else "my.yaml, it is not")


def test_categories_file_refuses_exponential_aliases():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "line 1: 'a' is not known here" in complaint("\n".join(lines))
    nested = "categories:\n  custom:\n    - &a [x]\n    - [*a, *a]"
    assert "line 3: " in complaint(nested)
    assert "a name of letters, digits, - and _ is expected here" in complaint(
        "allowlists: {planner: &a [*a]}"
    )


def test_categories_file_accepts_an_alias_for_a_list():
    said = parse_categories("allowlists: {planner: &few [tasks], executor: *few}", "my.yaml")
    assert said.allowed("planner") == said.allowed("executor") == {"tasks"}


def test_categories_file_refuses_deep_nesting():
    assert complaint("[" * 5000) == "my.yaml, it is not YAML."


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"x" * (MAX_BYTES + 1), "has more than 1,000,000 bytes"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        ("allowlists: {planner: [öl]}".encode("latin-1"), "is not UTF-8 text"),
    ],
)
def test_categories_file_refuses_oversized_or_non_utf8_files(tmp_path, raw, told):
    path = tmp_path / "categories.yaml"
    path.write_bytes(raw)
    with pytest.raises(BadCategories, match=told):
        CategoriesFile(str(path))


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_categories_file_refuses_an_unreadable_path(tmp_path, name):
    with pytest.raises(BadCategories, match="cannot be read"):
        CategoriesFile(str(tmp_path / name))


# ——— as it changes ———


def written(path: Path, text: str) -> None:
    """With another moment of change, however fast the tests run."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "categories.yaml"
    written(path, "allowlists: {planner: [tasks]}")
    return path


def test_categories_without_a_file_are_the_shipped_ones():
    assert CategoriesFile("").read().origin == SHIPPED_ORIGIN


def test_categories_file_change_applies_at_once(path):
    file = CategoriesFile(str(path))
    assert file.read().allowed("planner") == {"tasks"}
    assert file.read() is file.read()
    written(path, "allowlists: {planner: [goals]}")
    assert file.read().allowed("planner") == {"goals"}


def test_categories_file_replaced_with_equal_mtime_is_reloaded(path):
    """As editors save: a new file takes the old one's name."""
    file = CategoriesFile(str(path))
    new = path.with_suffix(".new")
    new.write_text("allowlists: {planner: [goals]}")
    then = path.stat().st_mtime_ns
    os.utime(new, ns=(then, then))
    new.rename(path)
    assert file.read().allowed("planner") == {"goals"}


def test_categories_file_invalid_change_is_ignored_and_logged_once(path, caplog):
    file = CategoriesFile(str(path))
    written(path, "allowlists: {planner: [everything]}")
    said = file.read()
    assert said.allowed("planner") == {"tasks"}
    assert "line 1: the allowlist of 'planner' names 'everything'" in said.problem
    assert len(caplog.records) == 1
    assert file.read().problem == said.problem
    assert len(caplog.records) == 1  # said once, not with every read
    written(path, "allowlists: {planner: [goals]}")
    assert (file.read().allowed("planner"), file.read().problem) == ({"goals"}, None)


def test_categories_file_removal_keeps_the_last_values(path):
    file = CategoriesFile(str(path))
    path.unlink()
    said = file.read()
    assert said.allowed("planner") == {"tasks"}
    assert "cannot be read" in said.problem


def test_categories_verb_reports_the_problem_and_keeps_valid_allowlists(path):
    with commonplace.open(":memory:", embedder="hashing", categories=str(path)) as book:
        me = book.user("ana")
        me.remember("Renew the passport", category="tasks")
        assert me.categories().problem is None
        written(path, "allowlists: {planner: [}")
        assert "line 1" in me.categories().problem
        assert len(me.agent("planner").list().memories) == 1
        written(path, "allowlists: {planner: [goals]}")
        assert me.categories().problem is None
        assert me.agent("planner").list().memories == ()
        assert me.categories_check("planner", "tasks").is_allowed is False


def test_categories_file_error_prevents_opening_a_store(tmp_path):
    path = tmp_path / "categories.yaml"
    path.write_text("allowlists: 7")
    with pytest.raises(BadCategories) as wrong:
        commonplace.open(":memory:", embedder="hashing", categories=str(path))
    assert "setting `categories`" in wrong.value.remedy

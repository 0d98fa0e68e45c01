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


def test_categories_modes_and_lists_are_read():
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


def test_the_words_of_the_contract_are_the_shipped_categories():
    said = load_shipped_categories()
    assert set(said.categories) == BUILT_IN_CATEGORIES
    assert all(category.system for category in said.categories.values())


def test_the_shipped_lists_are_the_contracts():
    said = load_shipped_categories()
    everyone = {"identity", "constraints"}
    assert said.allowed("planner") == {"goals", "tasks", "projects", "procedural"} | everyone
    assert said.allowed("stylist") == {"preferences", "tone", "style"} | everyone
    assert said.allowed("researcher") == {"knowledge", "interests", "history"} | everyone
    assert said.allowed("executor") == {"tasks", "recent_activity", "procedural"} | everyone
    supervisor = {"profile", "goals", "preferences", "event", "activity", "relationships", "tasks"}
    also = {"knowledge", "interests", "history", "relationship_dynamic"}
    assert said.allowed("supervisor") == supervisor | also | everyone
    assert said.allowed("any other") == {
        *("profile", "preferences", "goals", "tasks", "projects", "knowledge", "event"),
        *("activity", "history", "relationships", "identity", "constraints"),
    }


@pytest.mark.parametrize("text", ["", "# nothing but a remark\n", "{}"])
def test_an_empty_file_says_what_is_shipped(text):
    said = parse_categories(text, "my.yaml")
    assert (said.categories, said.allowlists.keys()) == (
        load_shipped_categories().categories,
        load_shipped_categories().allowlists.keys(),
    )


def test_a_part_that_is_left_out_is_the_shipped_one():
    lists = parse_categories("allowlists: {planner: [tasks]}", "my.yaml")
    assert lists.categories == load_shipped_categories().categories
    assert list(lists.allowlists) == ["planner"]
    more = parse_categories("categories: {custom: [house]}", "my.yaml")
    assert more.categories.keys() == {*BUILT_IN_CATEGORIES, "house"}
    assert more.allowed("stylist") == load_shipped_categories().allowed("stylist")
    fewer = parse_categories("categories: {system: [tasks]}", "my.yaml")
    assert fewer.allowed("planner") == {"tasks"}  # of the shipped list, what there is


def test_an_agent_that_is_called_default_gets_that_list():
    said = parse_categories("allowlists: {default: [tasks], planner: [goals]}", "my.yaml")
    assert said.allowed("default") == said.allowed("Default") == {"tasks"}
    none = parse_categories("allowlists: {planner: [goals]}", "my.yaml")
    assert none.allowed("default") == none.allowed("anybody") == frozenset()


def test_names_of_agents_are_the_same_in_any_case():
    said = parse_categories("allowlists: {Planner: [goals], DEFAULT: [tasks]}", "my.yaml")
    assert said.allowed("planner") == said.allowed(" PLANNER ") == {"goals"}
    assert said.allowed("anybody") == {"tasks"}


def test_a_category_that_no_file_names_is_explained_as_such():
    with commonplace.open(":memory:", embedder="hashing") as book:
        me = book.user("ana")
        me.remember("Water the ferns", category="garden")
        assert me.categories_explain("tasks").is_named
        assert not me.categories_explain("garden").is_named
        assert not me.categories_explain("nosuch").is_named


# ——— what is wrong with it, and where ———

WRONG = [
    ("categories: [tasks]", 1, "here belongs a map of system, custom"),
    ("\nagents: {}", 2, "'agents' is not known here, only categories, allowlists"),
    ("categories:\n  systen: []", 2, "'systen' is not known here, only system, custom"),
    ("categories:\n  custom:\n    - {nam: house}", 3, "'nam' is not known here"),
    ("categories:\n  custom:\n    - {context: all}", 3, "a category needs a name"),
    ("categories:\n  custom:\n    - house\n    - house", 4, "there are two categories 'house'"),
    ("categories:\n  custom:\n    - tasks", 3, "there are two categories 'tasks'"),
    ("categories:\n  custom: house", 2, "here belongs a list"),
    ("categories:\n  custom:\n    - [house]", 3, "here belongs a map of name"),
    ("categories:\n  custom:\n    - ''", 3, "here belongs a name"),
    ('categories:\n  custom:\n    - "a\\nb"', 3, "here belongs a name"),
    (f"categories:\n  custom:\n    - {'x' * 65}", 3, "here belongs a name"),
    ("categories:\n  custom:\n    - {name: [a]}", 3, "here belongs a name"),
    ("categories:\n  custom:\n    - name: a\n      context: some", 4, "context is all or rag"),
    ("categories:\n  custom:\n    - name: a\n      context: [all]", 4, "context is all or rag"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: -1", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: 1001", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      rag_length: many", 4, "rag_length is a whole"),
    ("categories:\n  custom:\n    - name: a\n      name: b", 4, "name stands here twice"),
    ("categories: {}\ncategories: {}", 2, "categories stands here twice"),
    ("allowlists: [planner]", 1, "allowlists are a map from an agent to its categories"),
    ("allowlists:\n  planner: tasks", 2, "here belongs a list"),
    ("allowlists:\n  planner: [tasks]\n  planner: []", 3, "there are two allowlists of 'planner'"),
    ("allowlists:\n  planner: [tasks]\n  Planner: []", 3, "there are two allowlists of 'Planner'"),
    ("allowlists:\n  planner: [taks]", 2, "names 'taks', which is no category; did you mean"),
    ("allowlists:\n  planner:\n    - tasks\n    - Tasks", 4, "names 'Tasks', which is no category"),
    ("allowlists:\n  planner: [qqqq]", 2, "names 'qqqq', which is no category."),
    ("allowlists:\n  planner: [[tasks]]", 2, "here belongs a name"),
    ("allowlists:\n  [a, b]: [tasks]", 2, "here belongs a name"),
    ("- tasks", 1, "here belongs a map of categories, allowlists"),
    ("just words", 1, "here belongs a map of categories, allowlists"),
]


@pytest.mark.parametrize(("text", "line", "told"), WRONG)
def test_each_mistake_is_named_with_its_line(text, line, told):
    message = complaint(text)
    assert message.startswith(f"my.yaml, line {line}: ")
    assert told in message


def test_a_near_miss_is_suggested():
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
def test_what_is_no_yaml_or_no_plain_yaml_is_refused(text, line):
    """Nothing in it is ever made or run: only names and lists are read."""
    assert complaint(text).startswith(f"my.yaml, line {line}: " if line else "my.yaml, it is not")


def test_aliases_that_multiply_are_refused_at_once():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "line 1: 'a' is not known here" in complaint("\n".join(lines))
    nested = "categories:\n  custom:\n    - &a [x]\n    - [*a, *a]"
    assert "line 3: " in complaint(nested)
    assert "here belongs a name" in complaint("allowlists: {planner: &a [*a]}")


def test_an_alias_for_a_plain_list_is_fine():
    said = parse_categories("allowlists: {planner: &few [tasks], executor: *few}", "my.yaml")
    assert said.allowed("planner") == said.allowed("executor") == {"tasks"}


def test_a_deeply_nested_file_is_refused():
    assert complaint("[" * 5000) == "my.yaml, it is not YAML."


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"x" * (MAX_BYTES + 1), "has more than 1,000,000 bytes"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        ("allowlists: {planner: [öl]}".encode("latin-1"), "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, raw, told):
    path = tmp_path / "categories.yaml"
    path.write_bytes(raw)
    with pytest.raises(BadCategories, match=told):
        CategoriesFile(str(path))


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
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


def test_without_a_file_the_shipped_ones_hold():
    assert CategoriesFile("").read().origin == SHIPPED_ORIGIN


def test_a_change_counts_at_once(path):
    file = CategoriesFile(str(path))
    assert file.read().allowed("planner") == {"tasks"}
    assert file.read() is file.read()
    written(path, "allowlists: {planner: [goals]}")
    assert file.read().allowed("planner") == {"goals"}


def test_a_file_of_the_same_length_and_moment_but_another_one_counts(path):
    """As editors save: a new file takes the old one's name."""
    file = CategoriesFile(str(path))
    new = path.with_suffix(".new")
    new.write_text("allowlists: {planner: [goals]}")
    then = path.stat().st_mtime_ns
    os.utime(new, ns=(then, then))
    new.rename(path)
    assert file.read().allowed("planner") == {"goals"}


def test_a_wrong_change_does_not_count_and_is_told(path, caplog):
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


def test_a_file_that_goes_away_leaves_what_it_said(path):
    file = CategoriesFile(str(path))
    path.unlink()
    said = file.read()
    assert said.allowed("planner") == {"tasks"}
    assert "cannot be read" in said.problem


def test_the_verb_tells_the_problem_and_agents_see_by_what_held(path):
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


def test_a_wrong_file_stops_a_store_from_opening(tmp_path):
    path = tmp_path / "categories.yaml"
    path.write_text("allowlists: 7")
    with pytest.raises(BadCategories) as wrong:
        commonplace.open(":memory:", embedder="hashing", categories=str(path))
    assert "setting `categories`" in wrong.value.remedy

"""MuSiQue, HotpotQA and their like: paragraphs, questions that need several.

Each `NAME_corpus.json` stands beside its questions, `NAME.json`, as HippoRAG publishes them. A
paragraph is one unit, however many passages it is cut into.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.quality.dataset import (
    Dataset,
    DatasetQuestion,
    DatasetSource,
    DatasetUser,
    EvidenceUnit,
    read_json,
    remarks_of,
    unreadable,
)

FOLDER = "multihop"
_CORPUS = "_corpus"

Paragraph = tuple[str, str]  # title, text


def files(data: Path) -> list[Path]:
    found = sorted((data / FOLDER).glob(f"*{_CORPUS}.json"))
    return [file for file in found if _questions_of(file).exists()]


def load(data: Path) -> list[Dataset]:
    """A set for each corpus: `musique_train` and `musique_dev` are two users of one set."""
    owners: dict[str, list[DatasetUser]] = {}
    missed: dict[str, int] = {}
    for file in files(data):
        name = file.stem.removesuffix(_CORPUS)
        set_name = name.partition("_")[0]
        try:
            owner, lost = _owner(name, read_json(file), read_json(_questions_of(file)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise unreadable(file, repr(error)) from error
        owners.setdefault(set_name, []).append(owner)
        missed[set_name] = missed.get(set_name, 0) + lost
    lost_words = "supporting paragraphs are not in the corpus and were dropped"
    return [
        Dataset(name, tuple(mine), remarks_of([(missed[name], lost_words)]))
        for name, mine in owners.items()
    ]


def _questions_of(corpus: Path) -> Path:
    return corpus.with_name(f"{corpus.stem.removesuffix(_CORPUS)}.json")


def _owner(name: str, corpus: Any, asked: Iterable[Mapping[str, Any]]) -> tuple[DatasetUser, int]:
    paragraphs = list(dict.fromkeys(_paragraphs(corpus)))
    sources = tuple(_source(place, *paragraph) for place, paragraph in enumerate(paragraphs))
    places = _Places(paragraphs)
    questions, lost = [], 0
    for each in asked:
        wanted = [places.of(paragraph) for paragraph in supporting(each)]
        gold = frozenset(id for id in wanted if id is not None)
        lost += wanted.count(None)
        if gold:
            questions.append(DatasetQuestion(str(each["question"]), gold, category_of(each)))
    return DatasetUser(name, sources, tuple(questions)), lost


def _paragraphs(corpus: Any) -> Iterator[Paragraph]:
    if isinstance(corpus, Mapping):  # title → sentences
        for title, sentences in corpus.items():
            yield str(title), _joined(sentences)
    else:
        for entry in corpus:
            yield str(entry["title"]), _joined(entry["text"])


def _joined(text: Any) -> str:
    return str(text if isinstance(text, str) else "".join(text)).strip()


def _source(place: int, title: str, text: str) -> DatasetSource:
    return DatasetSource(
        str(place), title, (EvidenceUnit(str(place), text),), is_conversation=False
    )


class _Places:
    """Where a paragraph stands in the corpus: by title and text, or by a title of its own."""

    def __init__(self, paragraphs: list[Paragraph]):
        self._exact = {_key(*each): str(place) for place, each in enumerate(paragraphs)}
        self._titled: dict[str, list[str]] = {}
        for place, (title, _) in enumerate(paragraphs):
            self._titled.setdefault(title, []).append(str(place))

    def of(self, paragraph: Paragraph) -> str | None:
        found = self._exact.get(_key(*paragraph))
        same_title = self._titled.get(paragraph[0], ())
        return found or (same_title[0] if len(same_title) == 1 else None)


def _key(title: str, text: str) -> Paragraph:
    return title, re.sub(r"\s+", "", text)


def supporting(asked: Mapping[str, Any]) -> list[Paragraph]:
    """MuSiQue marks its paragraphs; HotpotQA and 2Wiki name titles of the context."""
    if "paragraphs" in asked:
        return [
            (str(each["title"]), _joined(each.get("paragraph_text") or each.get("text") or ""))
            for each in asked["paragraphs"]
            if each.get("is_supporting")
        ]
    titles = list(dict.fromkeys(str(title) for title, _ in asked["supporting_facts"]))
    context = {str(title): _joined(sentences) for title, sentences in asked.get("context", ())}
    return [(title, context.get(title, "")) for title in titles]


def category_of(asked: Mapping[str, Any]) -> str:
    if "type" in asked:
        return str(asked["type"])
    hops = re.match(r"\d+hop", str(asked.get("id", "")))
    return hops[0] if hops else "other"

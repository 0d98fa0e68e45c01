"""Plain text (one turn) and Markdown (one turn per section)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.engine.sources.formats.input import (
    ParseHints,
    clean_word,
    decode_text,
    empty_source_error,
)
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType
from commonplace.model.validation import stored_form


def read_plain_text(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    text = stored_form(decode_text(raw))
    if not text:
        raise empty_source_error()
    return ParsedSource(
        source_type=SourceType.FILE if hints.name else SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        turns=(SourceTurn(text=text, at=hints.started_at),),
        title=hints.title or hints.readable_name,
        started_at=hints.started_at,
        ended_at=hints.started_at,
    )


BETWEEN_HEADINGS = " › "

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_FRONT_MATTER = "---"


@dataclass(frozen=True, slots=True)
class _Section:
    headings: tuple[str, ...]  # from the outermost to its own
    lines: tuple[str, ...]


def read_markdown(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    sections = _sections(_without_front_matter(decode_text(raw).split("\n")))
    turns = tuple(_turn(section, hints) for section in sections if _has_text(section))
    if not turns:
        raise empty_source_error()
    first = next((section.headings[0] for section in sections if section.headings), None)
    return ParsedSource(
        source_type=SourceType.FILE if hints.name else SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        turns=turns,
        title=hints.title or clean_word(first or "") or hints.readable_name,
        started_at=hints.started_at,
        ended_at=hints.started_at,
    )


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines[0].rstrip() != _FRONT_MATTER:
        return lines
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FRONT_MATTER:
            return lines[number + 1 :]
        if not line.strip():  # a horizontal rule, followed by text
            break
    return lines


def _sections(lines: list[str]) -> list[_Section]:
    found: list[_Section] = []
    open_headings: list[tuple[int, str]] = []
    body: list[str] = []
    fence = ""
    for line in lines:
        fence = _fence_after(line, fence)
        heading = None if fence else _heading(line, body)
        if heading is None:
            body.append(line)
            continue
        level, title, underlined = heading
        if underlined:
            body.pop()
        found.append(_Section(tuple(name for _, name in open_headings), tuple(body)))
        open_headings = [(n, name) for n, name in open_headings if n < level] + [(level, title)]
        body = []
    found.append(_Section(tuple(name for _, name in open_headings), tuple(body)))
    return found


def _fence_after(line: str, fence: str) -> str:
    """The closing fence of the current code block; empty outside of one."""
    sign = _FENCE.match(line)
    if sign is None:
        return fence
    if not fence:
        return sign[1]
    return "" if sign[1] == fence else fence


def _heading(line: str, before: list[str]) -> tuple[int, str, bool] | None:
    """Level, title, and True if the title is the line above (an underlined heading)."""
    marked = _HEADING.fullmatch(line)
    if marked is not None:
        return len(marked[1]), _without_closing_signs(marked[2].strip()), False
    underline = _UNDERLINE.fullmatch(line)
    above = before[-1].strip() if before else ""
    stands_alone = len(before) < 2 or not before[-2].strip()
    if underline is None or not above or not stands_alone or above[0] in "-*+>|#":
        return None
    return 1 if underline[1][0] == "=" else 2, above, True


def _without_closing_signs(title: str) -> str:
    """ "Plan ##" has closing signs; "C#" does not."""
    bare = title.rstrip("#")
    return bare.rstrip() if bare[-1:].isspace() else title


def _has_text(section: _Section) -> bool:
    return any(line.strip() for line in section.lines)


def _turn(section: _Section, hints: ParseHints) -> SourceTurn:
    path = BETWEEN_HEADINGS.join(section.headings)
    body = stored_form("\n".join(section.lines))
    text = f"{path}\n\n{body}" if path else body
    return SourceTurn(text=stored_form(text), at=hints.started_at, label=clean_word(path))

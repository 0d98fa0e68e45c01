"""Answers that a person enjoys reading."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from commonplace.answers import as_data
from commonplace.book import Calibrated, Choice, Verified
from commonplace.errors import CommonplaceError
from commonplace.model.delta import Delta, shorten
from commonplace.model.memory import Memory
from commonplace.model.relations import Action, Relation
from commonplace.operations import Operation
from commonplace.recall.conflicts import Question, Side
from commonplace.recall.look_up import Page, Shown
from commonplace.recall.stats import Stats
from commonplace.remember.bring_in import Imported
from commonplace.remember.erase import Erased
from commonplace.remember.forget import Forgotten, Restored
from commonplace.remember.merge import Merged
from commonplace.remember.remember import Remembered
from commonplace.remember.resolve import Resolved
from commonplace.remember.update import Updated
from commonplace.sleep.reembed import Reembedded
from commonplace.sleep.tidy import Tidied
from commonplace.surfaces.cli import (
    render_categories,
    render_context,
    render_explore,
    render_graph,
    render_keys,
    render_observed,
    render_profile,
    render_query,
    render_recall,
    render_sources,
    render_teams,
    render_understanding,
)
from commonplace.surfaces.cli.draw import as_it_is, drawn, id_line, plain, several

__all__ = ["drawn", "headline", "show_answer", "show_error"]

# Importing them enters what they draw.
_ALSO_DRAWN = (
    render_categories,
    render_keys,
    render_observed,
    render_context,
    render_explore,
    render_graph,
    render_profile,
    render_query,
    render_recall,
    render_sources,
    render_teams,
    render_understanding,
)


def show_answer(operation: Operation, answer: Any, as_json: bool) -> None:
    if operation.name == "export":
        sys.stdout.writelines(f"{line}\n" for line in answer)
    elif as_json:
        sys.stdout.write(json.dumps(as_data(answer), ensure_ascii=False, indent=2) + "\n")
    elif (text := as_it_is(answer)) is not None:
        sys.stdout.write(f"{text}\n" if text else "")
    else:
        console = Console(highlight=False)
        console.print(drawn(answer), crop=False)  # a token comes out whole, or is of no use


def show_error(error: CommonplaceError, as_json: bool) -> None:
    if as_json:
        sys.stderr.write(json.dumps({"error": error.as_dict()}, ensure_ascii=False) + "\n")
        return
    console = Console(stderr=True, highlight=False)
    told = Text.assemble((f"{error.code}: ", "bold red"), error.message)
    console.print(told)
    console.print(Text.assemble(("→ ", "bold"), error.remedy))


def headline(memory: Memory) -> Text:
    return Text.assemble(
        (f"[{memory.category}] ", "cyan"), memory.content, (f"  {memory.kind}", "dim")
    )


@drawn.register
def _remembered(answer: Remembered) -> Any:
    word, colour = _ACTIONS[answer.action]
    told = Text.assemble((f"{word} ", f"bold {colour}"), headline(answer.memory))
    lines = [told, id_line(answer.id)]
    if answer.relation is not Relation.NEW:
        reason = f": {answer.reason}" if answer.reason else ""
        lines.append(
            Text(f"  {_RELATIONS[answer.relation]} {', '.join(answer.others)}{reason}", "dim")
        )
    if answer.action is Action.PENDING:
        choices = f"resolve {answer.conflict} override | insert | dismiss"
        lines.append(Text(f"  what stands, stands until you decide: {choices}", "yellow"))
    if answer.undo:
        lines.append(Text(f"  undo: restore {' '.join(answer.undo)}", "dim"))
    lines += [Text(f"  ! {warning}", "yellow") for warning in answer.warnings]
    return Group(*lines)


_RELATIONS = {
    Relation.REPEAT: "repeats",
    Relation.REWORDING: "rewords",
    Relation.CHANGED: "changes",
    Relation.NEAR: "is near",
}

_ACTIONS = {
    Action.STORED: ("✓ remembered", "green"),
    Action.REFRESHED: ("✓ known already", "green"),
    Action.SUPERSEDED: ("↑ updated", "green"),
    Action.PENDING: ("? held", "yellow"),
    Action.OVERRIDDEN: ("↑ overridden", "green"),
    Action.ALTERNATIVE: ("· kept as an alternative", "green"),
}


@drawn.register
def _question(question: Question) -> Any:
    """What stands and what is held against it, side by side."""
    table = Table(box=None, padding=(0, 2), title_justify="left")
    table.add_column("")
    for number, side in enumerate(question.standing, 1):
        gone = "" if side.is_live else " (gone)"
        which = f" {number}" if len(question.standing) > 1 else ""
        table.add_column(f"stands{which}{gone}", style="green", overflow="fold")
    for _ in question.held:
        table.add_column("held", style="yellow", overflow="fold")
    sides = [*question.standing, *question.held]
    for name, told in _SIDES.items():
        cells = [Text(shorten(told(side), _CELL)) for side in sides]
        if any(cells):
            table.add_row(name, *cells)
    word = "alternative" if question.is_alternative else "conflict"
    choices = f"commonplace resolve {question.id} override | insert | dismiss"
    return Panel(
        Group(Text(question.reason, "bold"), table, Text(choices, "dim")),
        title=f"{word} {question.id}",
        title_align="left",
    )


_CELL = 400  # characters
_SIDES: dict[str, Callable[[Side], str]] = {
    "says": lambda side: side.text,
    "fields": lambda side: ", ".join(f"{n}: {plain(v)}" for n, v in side.metadata.items()),
    "since": lambda side: f"{side.since:%Y-%m-%d}",
    "told": lambda side: f"{side.told_at:%Y-%m-%d %H:%M}",
    "by": lambda side: side.told_by or "",
    "source": lambda side: side.source or "",
    "evidence": lambda side: "; ".join(side.evidence),
    "id": lambda side: side.id,
}


@drawn.register
def _resolved(answer: Resolved) -> Any:
    lines = [Text.assemble(("✓ decided: ", "bold green"), str(answer.choice))]
    lines += [Text(f"  stored {id}", "dim") for id in answer.ids]
    lines += [Text(f"  replaces {id}; undo: restore {id}", "dim") for id in answer.replaced]
    lines += [Text(f"  dropped {id}", "dim") for id in answer.dropped]
    return Group(*lines)


@drawn.register
def _updated(answer: Updated) -> Any:
    told = Text.assemble((f"✓ {answer.action} ", "bold green"), headline(answer.memory))
    lines = [told, id_line(answer.id)]
    if answer.replaced:
        lines.append(Text(f"  replaces {answer.replaced}; undo: restore {answer.replaced}", "dim"))
    lines += [Text(f"  ! {warning}", "yellow") for warning in answer.warnings]
    return Group(*lines)


@drawn.register
def _merged(answer: Merged) -> Any:
    told = Text.assemble(("✓ merged ", "bold green"), f"{len(answer.merged)} into one\n")
    return Group(told.append(answer.memory.content), id_line(answer.id))


@drawn.register
def _choice(answer: Choice) -> Any:
    if answer.is_empty:
        return Text("Nothing fits, and nothing was changed.", "yellow")
    lines = [Text("Nothing was changed. Which one? Call again with its id:", "yellow")]
    lines += [
        Text.assemble((hit.id, "bold"), f"  {shorten(hit.text)}") for hit in answer.candidates
    ]
    return Group(*lines)


@drawn.register
def _forgotten(answer: Forgotten) -> Any:
    if not answer.ids:
        return Text("Nothing new to forget.", "yellow")
    told = Text.assemble(
        ("− forgotten ", "bold yellow"),
        f"{len(answer.ids)}; restorable until {answer.restorable_until:%Y-%m-%d}\n",
        ("  " + " ".join(answer.ids), "dim"),
    )
    return told.append_text(_still_in(answer.still_in))


def _still_in(turns: Sequence[str]) -> Text:
    if not turns:
        return Text()
    return Text(f"\n  the words still stand in {', '.join(turns)}", "yellow")


@drawn.register
def _restored(answer: Restored) -> Any:
    told = Text.assemble(("⟲ restored ", "bold green"), " ".join(answer.ids) or "nothing")
    return told.append(f"; forgot {' '.join(answer.replaced)}") if answer.replaced else told


@drawn.register
def _erased(answer: Erased) -> Any:
    receipt = answer.receipt
    return Text.assemble(
        ("× erased ", "bold red"),
        f"{receipt.items}, receipt {receipt.id}, scrub {answer.scrub}",
        f"; rewrote {' '.join(answer.rewritten)}" if answer.rewritten else "",
    ).append_text(_still_in(answer.still_in))


@drawn.register
def _verified(answer: Verified) -> Any:
    if answer.clean:
        waits = " (compaction still waits)" if answer.scrub_pending else ""
        return Text(f"✓ The text is nowhere{waits}.", "green")
    return Text(f"✗ Still in: {', '.join(answer.found_in)}", "bold red")


@drawn.register
def _delta(answer: Delta) -> Any:
    return Text(answer.header or f"No changes since rev {answer.since}.")


@drawn.register
def _page(answer: Page) -> Any:
    if not answer.memories:
        return Text("Nothing is remembered here.", "yellow")
    lines: list[Any] = []
    for memory in answer.memories:
        pin = ("★ ", "yellow") if memory.pinned else ""
        lines.append(Text.assemble(pin, (f"[{memory.category}] ", "cyan"), shorten(memory.content)))
        told = f"  {memory.kind} · {memory.created_at:%Y-%m-%d} · imp {memory.importance}"
        lines.append(Text(f"{told} · id {memory.id}", "dim"))
    if answer.next is not None:
        lines.append(Text(f"more: --after {answer.next}", "dim"))
    return Group(*lines)


@drawn.register
def _shown(answer: Shown) -> Any:
    data = as_data(answer.memory)
    table = Table(box=None, show_header=False, padding=(0, 1))
    for name, value in data.items():
        if value not in (None, [], {}, "") and name != "content":
            table.add_row(Text(name, "bold"), Text(plain(value)))
    versions = [
        Text(f"version {v.memory.version}  {v.recorded_at:%Y-%m-%d}  {shorten(v.memory.content)}")
        for v in answer.versions
    ]
    links = [Text(f"↔ {link.a} {link.b}  {link.strength:.2f}") for link in answer.links]
    held = [Text(f"? held {side.id}  {shorten(side.text)}", "yellow") for side in answer.held]
    held += [
        Text(f"· alternative {side.id}  {shorten(side.text)}  {side.source or ''}", "yellow")
        for side in answer.alternatives
    ]
    return Group(Panel(Text(answer.memory.content)), table, *held, *versions, *links)


@drawn.register
def _tidied(answer: Tidied) -> Any:
    waits = "" if answer.scrubbed else "; compaction waits for other readers"
    waits += f"; proposals that ended {answer.proposals}" if answer.proposals else ""
    waits += f"; indexed anew {answer.reindexed}" if answer.reindexed else ""
    return Text(
        f"expired {answer.expired}, idle {answer.idle}, purged {answer.purged}, "
        f"merged {answer.merged}, vectors {answer.vectors}{waits}"
    )


@drawn.register
def _imported(answer: Imported) -> Any:
    came = f"memories {answer.memories}, sources {answer.sources}, proposals {answer.proposals}"
    lines = [Text(f"✓ imported: {came}; already there {len(answer.already_there)}")]
    if answer.differing:
        lines.append(Text(f"! kept as they were: {' '.join(answer.differing)}", "yellow"))
    if answer.alternatives:
        beside = f"kept beside what stands: {len(answer.alternatives)} (conflicts --alternatives)"
        lines.append(Text(f"! {beside}", "yellow"))
    return Group(*lines)


@drawn.register
def _stats(answer: Stats) -> Any:
    lines = [
        Text.assemble((answer.user_id, "bold"), f"  revision {answer.revision}"),
        Text(f"{answer.live} live memories, {answer.links} links"),
        Text(f"kinds: {_counted(answer.kinds.items())}"),
        Text(f"categories: {_counted(answer.categories.items())}"),
        Text(f"states: {_counted(answer.states.items())}"),
        Text(f"{several(answer.sources, 'live source')}, {several(answer.passages, 'passage')}"),
    ]
    if answer.sources:
        lines.append(Text(f"source types: {_counted(answer.source_types.items())}"))
        lines.append(Text(f"source statuses: {_counted(answer.source_statuses.items())}"))
    if answer.proposals:
        lines.append(Text(f"{several(answer.proposals, 'open proposal')} (profile proposals)"))
    if answer.jobs:
        lines.append(Text(f"jobs: {_counted(answer.jobs.items())}"))
    lines += [
        Text(f"{count.day}  {count.node:<8} {count.op:<8} {count.status:<7} {count.count}")
        for count in answer.operations
    ]
    return Group(*lines)


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in pairs) or "none"


@drawn.register
def _(answer: Reembedded) -> Any:
    made = f"{answer.memories:,} memories embedded" if answer.changed else "nothing was left to do"
    told = Text.assemble(("✓ ", "bold green"), f"{made}; vectors are {answer.embedder}'s now")
    return told.append(
        "\n→ open the store with this embedder from now on (setting embedder)", "dim"
    )


@drawn.register
def _(answer: Calibrated) -> Any:
    lines = [Text(f"{answer.embedder}:", "bold")]
    for script, proof in sorted(answer.proofs.items()):
        mark = ("✓ ", "green") if proof.holds else ("✗ ", "yellow")
        seen = "similarity is known" if proof.holds else "blind: words decide"
        lines.append(Text.assemble(mark, f"{script}: {seen} ({proof})"))
    return Group(*lines)

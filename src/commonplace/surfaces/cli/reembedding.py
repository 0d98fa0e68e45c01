"""`commonplace reembed` on a terminal: a bar that shows how far it is, and a calm way to stop."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from commonplace.book import open_as_it_is
from commonplace.sleep import reembed as verb

_STOPPED = "Stopped. The old vectors go on serving; run it again to go on from here."


def reembed_with_a_bar(store: str | None, embedder: str) -> verb.Reembedded:
    """The old embedder need not be at hand: it may be why somebody wants another one."""
    console = Console(stderr=True)
    with open_as_it_is(store) as book:
        try:
            with _bar(console) as bar:
                task = bar.add_task("embedding", total=None)

                def show(progress: verb.Progress) -> None:
                    bar.update(
                        task,
                        description=progress.phase,
                        completed=progress.done,
                        total=progress.total,
                    )

                return book.reembed(embedder, progress=show)
        except KeyboardInterrupt:
            console.print(_STOPPED, highlight=False)
            raise


def _bar(console: Console) -> Progress:
    """Gone when it is done, and absent where nobody watches."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )

"""A process of its own that opens a store: `python opening.py URL [failpoint]`.

It says `ready`, waits for a line, opens, and says which schema it found. With a failpoint, it
kills itself when it gets there.
"""

from __future__ import annotations

import os
import signal
import sys

from commonplace.store import failpoints
from support.stores import open_store


def killed_at(failpoint: str) -> None:
    def hook(name: str) -> None:
        if name == failpoint:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.install_hook(hook)


if __name__ == "__main__":
    url, *rest = sys.argv[1:]
    if rest:
        killed_at(rest[0])
    print("ready", flush=True)
    sys.stdin.readline()
    store = open_store(url)
    print(store.health().schema, flush=True)
    store.close()

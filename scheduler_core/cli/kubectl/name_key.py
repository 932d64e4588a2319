"""The key of the hashes that stand for names, which stays on this machine."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from scheduler_core.cli.input_files import InputError

BYTES = 32


def name_key() -> bytes:
    """Return this user's key; it is made when it is first needed, and readable by this user alone.

    Raises:
        InputError: It cannot be read or written, or is not one.
    """
    folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "podstep"
    file = folder / "names.key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600, exist_ok=False)
            file.write_bytes(secrets.token_bytes(BYTES))
        key = file.read_bytes()
    except OSError as error:
        raise InputError(f"{error.filename or file}: {error.strerror or error}") from error
    if len(key) != BYTES:
        raise InputError(f"{file}: {len(key)} bytes, not the {BYTES} of a key; remove it for a new one")
    return key

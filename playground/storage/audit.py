"""What operators did, for whoever asks later."""

from __future__ import annotations

import os
import pwd

from playground.models import AuditEntry


def operator() -> str:
    """Return the operating system's user, and who became it by sudo; a number where it has no name."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:  # a container's user need not be listed
        name = str(number)
    before = os.environ.get("SUDO_USER", "")
    return f"{before} as {name}"[:100] if before and before != name else name


def record(what: str, subject: str, why: str = "") -> AuditEntry:
    """Write down that the operator did ``what`` to ``subject``."""
    return AuditEntry.objects.create(who=operator(), what=what, subject=subject[:100], why=why)

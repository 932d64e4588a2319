"""The audit log of the operators' actions."""

from __future__ import annotations

import os
import pwd

from playground.models import AuditEntry


def operator() -> str:
    """Return the operating system user, preceded by the sudo user; a number if it has no name."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:  # a container's user may have no passwd entry
        name = str(number)
    before = os.environ.get("SUDO_USER", "")
    return f"{before} as {name}"[:100] if before and before != name else name


def record(what: str, subject: str, why: str = "") -> AuditEntry:
    """Record that the operator did ``what`` to ``subject``."""
    return AuditEntry.objects.create(who=operator(), what=what, subject=subject[:100], why=why)

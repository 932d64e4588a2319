"""The audit log: the operators' actions, and what visitors deleted, revoked or handed over."""

from __future__ import annotations

import os
import pwd

from django.db.models import Q

from playground.models import AuditEntry
from playground.visitors import caller

VISITOR = "visitor "  # begins `who` of a visitor's entry; no user of an operating system has a space
NO_COOKIE = "without a cookie"
OF_VISITORS = Q(who__startswith=VISITOR)


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


def record_visitor(what: str, subject: str, visitor: str = "", why: str = "") -> AuditEntry:
    """Record that a visitor did ``what`` to ``subject``; the caller's address is added."""
    who = f"{VISITOR}{visitor or NO_COOKIE}"
    if address := caller.address():
        who += f" at {address}"
    return AuditEntry.objects.create(who=who[:100], what=what, subject=subject[:100], why=why)

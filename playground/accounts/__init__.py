"""Optional accounts: a name and a password that stand for one owner, on every device that signs in.

Everything works without one. There are no sessions: what a browser has is the visitor's signed cookie as
before, with the account's owner in it. See docs/accounts.md.
"""

from __future__ import annotations

from django.http import HttpRequest

from playground.limits import limit


def offered(_request: HttpRequest | None = None) -> dict[str, bool]:
    """Return the context of every template: ``accounts``, whether this server has any."""
    return {"accounts": limit("ACCOUNTS") > 0}

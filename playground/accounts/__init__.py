"""Optional accounts: a name and a password that stand for one owner, on every device that signs in.

Everything works without one. What a browser has is the visitor's signed cookie as before, with the account's
owner and a session in it, of which only the ended ones are stored. See docs/accounts.md.
"""

from __future__ import annotations

from django.http import HttpRequest

from playground.limits import limit


def offered(_request: HttpRequest | None = None) -> dict[str, bool]:
    """Return the context of every template: ``accounts``, whether this server has any."""
    return {"accounts": limit("ACCOUNTS") > 0}

"""Who somebody is in a room: an id that others may see."""

from __future__ import annotations

import secrets

from django.utils.crypto import salted_hmac

_SALT = "playground.rooms.person"


def person_of(room: str, visitor: str) -> str:
    """Return a visitor's id in a room: the same on every connection, and another one in every room.

    It reveals nothing of the cookie. Without a cookie it is new on each call.
    """
    if not visitor:
        return secrets.token_hex(8)
    return salted_hmac(_SALT, f"{room}:{visitor}", algorithm="sha256").hexdigest()[:16]

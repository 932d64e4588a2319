"""Who somebody is in a room: an id that others may see, and a name if they gave one."""

from __future__ import annotations

import secrets
import unicodedata

from django.utils.crypto import salted_hmac

NAME = 40  # characters
_SALT = "playground.rooms.person"


def person_of(room: str, visitor: str) -> str:
    """Return a visitor's id in a room: the same on every connection, and another one in every room.

    Nothing of the cookie can be told from it. Without a cookie it is new on each call.
    """
    if not visitor:
        return secrets.token_hex(8)
    return salted_hmac(_SALT, f"{room}:{visitor}", algorithm="sha256").hexdigest()[:16]


def clean_name(name: str) -> str:
    """Return a name on one line, truncated, without control and direction characters."""
    kept = "".join(" " if char.isspace() else char for char in name)
    kept = "".join(char for char in kept if unicodedata.category(char) not in {"Cc", "Cf", "Co", "Cs", "Cn"})
    return " ".join(kept.split())[:NAME].strip()

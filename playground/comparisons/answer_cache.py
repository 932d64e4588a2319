"""Answers in the shared cache, for whichever process is asked next.

A cache that does not answer is passed over: what it would have had is computed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from contextlib import suppress

import zstandard
from django.core.cache import cache

from playground.wire import Encoded


def remember(key: Hashable, body: Encoded, seconds: float, largest: int | None = None) -> None:
    """Keep an answer for so many seconds, unless it has more than ``largest`` bytes compressed."""
    packed = zstandard.compress(body.encode())
    if largest is None or len(packed) <= largest:
        with suppress(Exception):
            cache.set(_name(key), packed, seconds)


def remembered(key: Hashable) -> Encoded | None:
    """Return the answer that is kept under a key."""
    with suppress(Exception):
        if (packed := cache.get(_name(key))) is not None:
            return Encoded(zstandard.decompress(packed).decode())
    return None


def _name(key: Hashable) -> str:
    return f"answer:{hashlib.sha256(repr(key).encode()).hexdigest()}"

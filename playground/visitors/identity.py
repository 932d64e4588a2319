"""The identity of a visitor: a random name in a signed cookie, and nothing else.

The name owns drafts and runs; a visitor who loses the cookie can still use the links to shared scenarios. Who
signs in to an account (:mod:`playground.accounts`) gets the cookie of the account's name, with a session of
this browser's own (:mod:`playground.visitors.sessions`).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie

from django.conf import settings
from django.core import signing

from playground.visitors import sessions

_SALT = "playground.visitor"
AT_ADDRESS = "address:"  # no visitor's name has a colon
_SESSION = "."  # before the session; no visitor's name has one


_asker: ContextVar[str] = ContextVar("asker", default="")


def asker() -> str:
    """Return the key by which this context's shares are counted: the visitor or, without one, the address."""
    return _asker.get()


@contextmanager
def asked_by(name: str) -> Iterator[None]:
    """Count the work of this context for a visitor or an address."""
    token = _asker.set(name)
    try:
        yield
    finally:
        _asker.reset(token)


def new_visitor() -> str:
    """Return a random name for a new visitor."""
    return secrets.token_urlsafe(16)


def sign(visitor: str, session: str = "") -> str:
    """Return the cookie's value for ``visitor``, in a session that can be ended by itself if one is named."""
    return signing.Signer(salt=_SALT).sign(f"{visitor}{_SESSION}{session}" if session else visitor)


def verify(value: str) -> str:
    """Return the visitor that a cookie's value names; ``""`` for an invalid signature or an ended session.

    Signatures by ``SECRET_KEY`` and by ``SECRET_KEY_FALLBACKS`` are equally valid.
    """
    visitor, session = _parts(value)
    return "" if sessions.is_ended(session) else visitor


def session_of(value: str) -> str:
    """Return the session that a cookie's value names, ``""`` if it names none or its signature is invalid."""
    return _parts(value)[1]


def _parts(value: str) -> tuple[str, str]:
    try:
        visitor, _, session = signing.Signer(salt=_SALT).unsign(value).partition(_SESSION)
    except signing.BadSignature:
        return "", ""
    return visitor, session


def is_current(value: str) -> bool:
    """Return whether a cookie's value was signed with ``SECRET_KEY`` itself, not with a fallback key."""
    try:
        signing.Signer(salt=_SALT, fallback_keys=[]).unsign(value)
    except signing.BadSignature:
        return False
    return True


def visitor_of_headers(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the visitor of an ASGI scope's headers, ``""`` without a valid cookie."""
    for name, value in headers:
        if name == b"cookie":
            try:
                cookies = SimpleCookie(value.decode("latin-1"))
            except CookieError:
                return ""
            morsel = cookies.get(settings.VISITOR_COOKIE)
            return verify(morsel.value) if morsel else ""
    return ""


def owner_at(address: str) -> str:
    """Return the owner of rows stored by a caller without a cookie, derived from the address."""
    return f"{AT_ADDRESS}{address}"

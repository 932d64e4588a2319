"""Which URLs may be called, and which addresses a name may resolve to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from scheduler_core.schedulers.extenders.webhooks.addresses import Address, Network, is_public, reached

_SPECIAL = frozenset("/\\%")  # in a segment once unquoted: servers disagree on them
PORTS = {"http": 80, "https": 443}
MOST_PREFIXES = 100


class ApprovalError(ValueError):
    """A prefix or a network that cannot be read."""


class UrlParts(Struct, frozen=True):
    """A URL taken apart; ``path`` are its segments, unquoted."""

    scheme: str
    host: str
    port: int
    path: tuple[str, ...]

    def covers(self, other: UrlParts) -> bool:
        """Return whether another URL is below this one, on the same origin."""
        here = (self.scheme, self.host, self.port)
        return here == (other.scheme, other.host, other.port) and other.path[: len(self.path)] == self.path


def target(url: str) -> UrlParts | None:
    """Take a URL apart; ``None`` if it is no plain http or https URL without user, query and fragment."""
    if not url.isascii() or not url.isprintable() or " " in url:  # some of these urlsplit drops
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").rstrip(".").lower()
    unusual = parts.username is not None or parts.password is not None or parts.query or parts.fragment
    if parts.scheme not in PORTS or not host or unusual or port == 0:
        return None
    path = tuple(unquote(segment) for segment in parts.path.split("/") if segment)
    if any(map(_is_unusual, path)):
        return None
    return UrlParts(parts.scheme, host, port or PORTS[parts.scheme], path)


def _is_unusual(segment: str) -> bool:
    return segment in {".", ".."} or not segment.isprintable() or not _SPECIAL.isdisjoint(segment)


class Approved:
    """The approved prefixes, and the networks other than the public ones that their names may resolve to.

    A private address is approved by itself, or ``localhost`` for the loopback: a name that resolves to one is
    not, unless a listed network has it.

    Raises:
        ApprovalError: A prefix or a network cannot be read.
    """

    def __init__(self, prefixes: Iterable[str], networks: Iterable[str] = ()) -> None:
        self._prefixes: list[UrlParts] = []
        for prefix in prefixes:
            found = target(prefix)
            if found is None:
                raise ApprovalError(f"{prefix!r} is no URL prefix such as http://10.0.0.5:8888/scheduler")
            self._prefixes.append(found)
        if len(self._prefixes) > MOST_PREFIXES:
            raise ApprovalError(f"more than {MOST_PREFIXES} URL prefixes")
        try:
            self._networks: list[Network] = [ipaddress.ip_network(text) for text in networks]
        except ValueError as error:
            raise ApprovalError(f"{error}: write networks such as 10.0.0.0/8") from error

    def __call__(self, url: str) -> bool:
        """Return whether a URL may be called."""
        found = target(url)
        return found is not None and any(prefix.covers(found) for prefix in self._prefixes)

    def admits(self, host: str, address: str) -> bool:
        """Return whether a connection to the host of an approved URL may go to an address."""
        try:
            there = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        ends = reached(there)
        if any(end.is_multicast or end.is_unspecified for end in ends):
            return False
        if host.lower().rstrip(".") == "localhost" and all(end.is_loopback for end in ends):
            return True
        return _is_literal(host, there) or all(is_public(end) or self._lists(end) for end in ends)

    def _lists(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _is_literal(host: str, address: Address) -> bool:
    """Return whether the host of a URL is this address itself, rather than a name."""
    try:
        return ipaddress.ip_address(host) == address
    except ValueError:
        return False

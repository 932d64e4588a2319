"""Which URLs may be called, and which addresses a name may resolve to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from msgspec import Struct

_SPECIAL = frozenset("/\\%")  # in a segment once unquoted: servers disagree on them
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
PORTS = {"http": 80, "https": 443}
MOST_PREFIXES = 100

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class ApprovalError(ValueError):
    """A prefix or a network that cannot be read."""


class Target(Struct, frozen=True):
    """A URL taken apart; ``path`` are its segments, unquoted."""

    scheme: str
    host: str
    port: int
    path: tuple[str, ...]

    def covers(self, other: Target) -> bool:
        """Return whether another URL is below this one, on the same origin."""
        here = (self.scheme, self.host, self.port)
        return here == (other.scheme, other.host, other.port) and other.path[: len(self.path)] == self.path


def target(url: str) -> Target | None:
    """Take a URL apart; ``None`` if it is no plain http or https URL without user, query and fragment."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").rstrip(".").lower()
    unusual = parts.username is not None or parts.password is not None or parts.query or parts.fragment
    if parts.scheme not in PORTS or not host or unusual or port == 0 or not url.isascii():
        return None
    path = tuple(unquote(segment) for segment in parts.path.split("/") if segment)
    if any(map(_is_unusual, path)):
        return None
    return Target(parts.scheme, host, port or PORTS[parts.scheme], path)


def _is_unusual(segment: str) -> bool:
    return segment in {".", ".."} or not segment.isprintable() or not _SPECIAL.isdisjoint(segment)


class Approved:
    """The approved prefixes, and the networks beside the public ones that their names may resolve to.

    A private address is approved by itself, or ``localhost`` for the loopback: a name that resolves to one is
    not, unless a listed network has it.

    Raises:
        ApprovalError: A prefix or a network cannot be read.
    """

    def __init__(self, prefixes: Iterable[str], networks: Iterable[str] = ()) -> None:
        self._prefixes: list[Target] = []
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
            there = _plain(ipaddress.ip_address(address.partition("%")[0]))
        except ValueError:
            return False
        if there.is_multicast or there.is_unspecified:
            return False
        if host.lower().rstrip(".") == "localhost" and there.is_loopback:
            return True
        try:
            if ipaddress.ip_address(host) == ipaddress.ip_address(address):
                return True
        except ValueError:
            pass  # it is a name
        return there.is_global or any(there in network for network in self._networks)


def _plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, if it does for one."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    return mapped if mapped is not None else address

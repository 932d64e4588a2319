"""Addresses in whatever notation they come: the IPv4 addresses that an IPv6 address embeds."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

IPv4 = ipaddress.IPv4Address
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_WORD = 0xFFFFFFFF
#: Interface identifiers of ISATAP (RFC 5214): 0000:5efe and 0200:5efe, before an IPv4 address.
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")


def _last(number: int) -> tuple[int, ...]:
    return (number & _WORD,)


def _after_prefix(number: int) -> tuple[int, ...]:
    return (number >> 80 & _WORD,)


def _teredo(number: int) -> tuple[int, ...]:
    """Return the server, and the client, of which every bit is inverted."""
    return (number >> 64 & _WORD, ~number & _WORD)


_FORMS: Sequence[tuple[ipaddress.IPv6Network, Callable[[int], tuple[int, ...]]]] = [
    (ipaddress.IPv6Network(text), embedded)
    for text, embedded in (
        ("::ffff:0:0/96", _last),  # mapped (RFC 4291)
        ("::/96", _last),  # compatible (RFC 4291)
        ("::ffff:0:0:0/96", _last),  # translated (RFC 2765)
        ("64:ff9b::/96", _last),  # NAT64 (RFC 6052)
        ("2002::/16", _after_prefix),  # 6to4 (RFC 3056)
        ("2001::/32", _teredo),  # Teredo (RFC 4380)
    )
]


def _embedded(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    number = int(address)
    for network, embedded in _FORMS:
        if address in network:
            yield from map(IPv4, embedded(number))
    if number >> 32 & _WORD in _ISATAP:
        yield IPv4(number & _WORD)


def reached(address: Address) -> tuple[Address, ...]:
    """Return every address that a connection to an address may end at.

    That is itself; of an IPv6 address that embeds IPv4 addresses, those. ``::`` and ``::1`` embed none.
    """
    if isinstance(address, IPv4) or address.is_unspecified or address.is_loopback:
        return (address,)
    return tuple(_embedded(address)) or (address,)


def is_public(address: Address) -> bool:
    """Return whether an address that embeds no other is one of the public internet.

    The prefix of local NAT64 (RFC 8215) is not: where in it the IPv4 address is, only its network knows.
    """
    return address.is_global and not address.is_multicast and address not in _LOCAL_NAT64

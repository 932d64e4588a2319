"""IP addresses and networks (k8s.io/apiserver/pkg/cel/library/ip.go and cidr.go)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row
from scheduler_core.schedulers.v1_37.cel.values import NO_OVERLOAD, register_strict


@dataclass(frozen=True)
class IP:
    """An address."""

    address: IPv4Address | IPv6Address

    @property
    def size(self) -> int:
        """Bytes of it."""
        return self.address.max_prefixlen // 8

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True)
class CIDR:
    """An address with the number of bits that are its network's."""

    ip: IP
    bits: int

    @property
    def size(self) -> int:
        """Bytes that its bits reach into."""
        return -(-self.bits // 8)

    def __str__(self) -> str:
        return f"{self.ip}/{self.bits}"

    def network(self, bits: int) -> int:
        """Return the first bits of it, as a number."""
        return int(self.ip.address) >> (self.ip.address.max_prefixlen - bits)

    def masked(self) -> CIDR:
        """Return its network."""
        rest = self.ip.address.max_prefixlen - self.bits
        return CIDR(IP(type(self.ip.address)(int(self.ip.address) >> rest << rest)), self.bits)

    def overlaps(self, other: CIDR) -> bool:
        """Return whether one has the other in it."""
        bits = min(self.bits, other.bits)
        return type(self.ip.address) is type(other.ip.address) and self.network(bits) == other.network(bits)


register_strict(IP, "net.IP")
register_strict(CIDR, "net.CIDR")


def _address(text: str) -> IPv4Address | IPv6Address:
    """Parse an address (netip.ParseAddr). Raises CelError with its message."""
    separator = next((char for char in text if char in ".:%"), "")
    problem = f'ParseAddr("{text}"): '
    if separator == ".":
        return _parsed(text, IPv4Address, problem + _v4_problem(text))
    if separator == ":":
        return _parsed(text, IPv6Address, problem + "unable to parse IP")
    raise CelError(problem + ("missing IPv6 address" if separator else "unable to parse IP"))


def _parsed(text: str, kind: type[IPv4Address | IPv6Address], problem: str) -> IPv4Address | IPv6Address:
    try:
        return kind(text)
    except AddressValueError:
        raise CelError(problem) from None


def _v4_problem(text: str) -> str:
    fields = text.split(".")
    for field in fields:
        if not re.fullmatch(r"\d*", field, re.ASCII):
            return "unexpected character (at " + f'"{_rest(text)}")'
        if len(field) > 1 and field.startswith("0"):
            return "IPv4 field has octet with leading zero"
        if field and int(field) > 255:
            return "IPv4 field has value >255"
    if "" in fields:
        return f'IPv4 field must have at least one digit (at "{_rest(text)}")'
    return "IPv4 address too short" if len(fields) < 4 else "IPv4 address too long"


def _rest(text: str) -> str:
    match = re.search(r"[^0-9.]|\.(?=\.|$)|^\.", text)
    return text[match.start() :] if match else text


def parse_ip(text: str) -> IP:
    """Parse an address that is neither of a zone nor an IPv4 one written as IPv6. Raises CelError."""
    try:
        address = _address(text)
    except CelError as error:
        raise CelError(f'IP Address "{text}" parse error during conversion from string: {error}') from None
    if isinstance(address, IPv6Address) and address.scope_id:
        raise CelError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return IP(address)


def _parse_prefix(text: str) -> CIDR:
    problem = "network address parse error during conversion from string: "
    address, slash, bits = text.rpartition("/")
    if not slash:
        raise CelError(f"{problem}netip.ParsePrefix(\"{text}\"): no '/'")
    try:
        found = _address(address)
    except CelError as error:
        raise CelError(f'{problem}netip.ParsePrefix("{text}"): {error}') from None
    if isinstance(found, IPv6Address) and found.scope_id:
        raise CelError(f'{problem}netip.ParsePrefix("{text}"): IPv6 zones cannot be present in a prefix')
    if not re.fullmatch(r"0|[1-9]\d{0,2}", bits, re.ASCII):
        raise CelError(f'{problem}netip.ParsePrefix("{text}"): bad bits after slash: "{bits}"')
    if int(bits) > found.max_prefixlen:
        raise CelError(f'{problem}netip.ParsePrefix("{text}"): prefix length out of range')
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return CIDR(IP(found), int(bits))


def parse_cidr(text: str) -> CIDR:
    """Parse a network. Raises CelError."""
    try:
        return _parse_prefix(text)
    except CelError as error:
        raise CelError(f"network address parse error during conversion from string: {error}") from None


def _is(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def run(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return run


def _contains_ip(cidr: CIDR, ip: Any) -> bool:
    try:
        found = parse_ip(ip) if isinstance(ip, str) else ip
    except CelError:
        raise CelError(NO_OVERLOAD) from None
    return cidr.overlaps(CIDR(found, found.address.max_prefixlen))


def _contains_cidr(cidr: CIDR, other: Any) -> bool:
    found = parse_cidr(other) if isinstance(other, str) else other
    return cidr.overlaps(found) and cidr.bits <= found.bits


def _is_global(ip: IP) -> bool:
    address = ip.address
    excluded = address.is_unspecified or address.is_loopback or address.is_multicast or _is_link_local(ip)
    return not excluded and str(address) != "255.255.255.255"


def _is_link_local(ip: IP) -> bool:
    network = ip_address("169.254.0.0" if ip.address.version == 4 else "fe80::")
    rest = ip.address.max_prefixlen - (16 if ip.address.version == 4 else 10)
    return int(ip.address) >> rest == int(network) >> rest


def _is_link_local_multicast(ip: IP) -> bool:
    number = int(ip.address)
    if ip.address.version == 4:
        return number >> 8 == 0xE00000
    return number >> 120 == 0xFF and number >> 112 & 0x0F == 2


_ROWS: list[tuple[str, str, Callable[..., Any]]] = [
    ("string_to_ip", "ip(string) -> addr", parse_ip),
    ("ip_family", "addr.family() -> int", lambda ip: ip.address.version),
    ("ip_is_canonical", "ip.isCanonical(string) -> bool", lambda text: str(parse_ip(text)) == text),
    ("ip_is_unspecified", "addr.isUnspecified() -> bool", lambda ip: ip.address.is_unspecified),
    ("ip_is_loopback", "addr.isLoopback() -> bool", lambda ip: ip.address.is_loopback),
    ("ip_is_link_local_multicast", "addr.isLinkLocalMulticast() -> bool", _is_link_local_multicast),
    ("ip_is_link_local_unicast", "addr.isLinkLocalUnicast() -> bool", _is_link_local),
    ("ip_is_global_unicast", "addr.isGlobalUnicast() -> bool", _is_global),
    ("is_ip", "isIP(string) -> bool", _is(parse_ip)),
    ("ip_to_string", "string(addr) -> string", str),
    ("string_to_cidr", "cidr(string) -> prefix", parse_cidr),
    ("cidr_contains_ip_string", "prefix.containsIP(string) -> bool", _contains_ip),
    ("cidr_contains_ip_ip", "prefix.containsIP(addr) -> bool", _contains_ip),
    ("cidr_contains_cidr_string", "prefix.containsCIDR(string) -> bool", _contains_cidr),
    ("cidr_contains_cidr", "prefix.containsCIDR(prefix) -> bool", _contains_cidr),
    ("cidr_ip", "prefix.ip() -> addr", lambda cidr: cidr.ip),
    ("cidr_prefix_length", "prefix.prefixLength() -> int", lambda cidr: cidr.bits),
    ("cidr_masked", "prefix.masked() -> prefix", CIDR.masked),
    ("is_cidr", "isCIDR(string) -> bool", _is(_parse_prefix)),
    ("cidr_to_string", "string(prefix) -> string", str),
]

LIBRARY: Library = library([row(*one) for one in _ROWS])

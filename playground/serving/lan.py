"""The address at which others in the local network reach a server that runs on somebody's laptop."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what --host may say
ELSEWHERE = ("192.0.2.1", 9)  # for documentation, RFC 5737: nothing is sent to it


def lan_address(host: str) -> str:
    """Return the address at which others reach a server that listens at ``host``, "" if none do."""
    try:
        found = _outward() if host in EVERYWHERE else socket.getaddrinfo(host, None)[0][4][0]
        return "" if ipaddress.ip_address(found).is_loopback else str(found)
    except (OSError, ValueError):  # no network, or no such name
        return ""


def _outward() -> str:
    """Return this machine's address on the network that leads out of it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(ELSEWHERE)
        return str(probe.getsockname()[0])


def bracketed(address: str) -> str:
    """Return an address as URLs and ``ALLOWED_HOSTS`` have it."""
    return f"[{address}]" if ":" in address else address


def origin_for_others(request: HttpRequest) -> str:
    """Return the origin to invite others to: of a page that this machine has open, its network address.

    That is the first of ``ALLOWED_HOSTS`` that is an address, where ``serve`` puts it; "" without any.
    """
    own = request.build_absolute_uri("/").removesuffix("/")
    parts = urlsplit(own)
    if not _is_local(parts.hostname or ""):
        return own
    port = f":{parts.port}" if parts.port else ""
    hosts = (host for host in settings.ALLOWED_HOSTS if _is_address(host) and not _is_local(host.strip("[]")))
    return next((f"{parts.scheme}://{host}{port}" for host in hosts), "")


def _is_local(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name.strip("[]")).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True

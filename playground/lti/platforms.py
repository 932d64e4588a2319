"""The platforms that the operator registered: the file of ``PLAYGROUND_LTI``, read when a process begins.

Settings are made with this module: it imports nothing that needs them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

import msgspec
import yaml
from msgspec import Meta, Struct

from scheduler_core.kubernetes.conversion import converted

MOST = 100  # platforms
MOST_BYTES = 1_000_000
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS = {"http": 80, "https": 443}

Text = Annotated[str, Meta(min_length=1, max_length=500)]


class PlatformError(ValueError):
    """The file cannot be used; ``problems`` say why, each with its place and a remedy."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


class Platform(Struct, frozen=True, forbid_unknown_fields=True):
    """A registered platform. ``origins`` are those of its pages and services beside the URLs' own."""

    issuer: Text
    client_id: Text
    auth_login_url: Text
    auth_token_url: Text
    key_set_url: Text
    deployment_ids: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=1_000)]
    title: Annotated[str, Meta(max_length=80)] = ""
    auth_audience: Annotated[str, Meta(max_length=500)] = ""
    origins: Annotated[tuple[Text, ...], Meta(max_length=50)] = ()

    @property
    def key(self) -> str:
        """What rows name the platform by."""
        return hashlib.sha256(f"{self.issuer}\n{self.client_id}".encode()).hexdigest()[:32]

    @property
    def name(self) -> str:
        """What people read."""
        return self.title or urlsplit(self.auth_login_url).hostname or self.issuer

    @property
    def allowed(self) -> frozenset[str]:
        """The origins that may frame what is launched, take deep links back, and are called."""
        own = (self.issuer, self.auth_login_url, self.auth_token_url, self.key_set_url, *self.origins)
        return frozenset(filter(None, map(origin_of, own)))

    def allows(self, url: Any) -> bool:
        """Return whether a URL is on one of the platform's origins."""
        return isinstance(url, str) and origin_of(url) in self.allowed

    @property
    def framing(self) -> str:
        """Its origins as of ``frame-ancestors`` and ``form-action``."""
        return " ".join(sorted(self.allowed))


def origin_of(url: str) -> str:
    """Return the origin of an https URL, or of an http one on this machine; "" for any other text."""
    if not url.isascii() or not url.isprintable() or set(url) & set(" \\;,'\""):
        return ""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if parts.scheme not in PORTS or not host or port == 0 or parts.username is not None:
        return ""
    if parts.scheme == "http" and host not in LOCAL:
        return ""
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}" + (f":{port}" if port and port != PORTS[parts.scheme] else "")


def bare(parts: SplitResult) -> str:
    """Return host and port of an address, without who asks."""
    return parts.netloc.rpartition("@")[2]


def read(path: str) -> tuple[Platform, ...]:
    """Return the platforms of a YAML or JSON file. Raises PlatformError."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PlatformError([f"{path}: {error.strerror or error}."]) from error
    if len(data) > MOST_BYTES:
        raise PlatformError([f"{path} is larger than {MOST_BYTES:,} bytes."])
    try:
        document = yaml.safe_load(data)
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError) as error:
        raise PlatformError([f"{path} is not YAML: {' '.join(str(error).split())[:300]}."]) from error
    rows = document.get("platforms") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST:
        raise PlatformError([f"{path}: expected `platforms:` with a list of 1 to {MOST} platforms."])
    problems: list[str] = []
    found: list[Platform] = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(_platform(row))
        except (msgspec.ValidationError, ValueError) as error:
            problems.append(f"{path}, platform {number}: {str(error)[:300]}.")
    if not problems and len({one.key for one in found}) < len(found):
        problems.append(f"{path}: two platforms have the same issuer and client_id.")
    if problems:
        raise PlatformError(problems)
    return tuple(found)


def _platform(row: Any) -> Platform:
    if isinstance(row, dict):  # Moodle's ids look like numbers, and YAML reads them as such
        ids = row.get("deployment_ids")
        row = {
            **row,
            **({"client_id": str(row["client_id"])} if isinstance(row.get("client_id"), int) else {}),
            **({"deployment_ids": [str(one) for one in ids]} if isinstance(ids, list) else {}),
        }
    found = converted(row, Platform)
    for name in ("auth_login_url", "auth_token_url", "key_set_url"):
        if not origin_of(getattr(found, name)):
            raise ValueError(f"{name} has to be an https:// URL (http:// on this machine alone)")
    for one in found.origins:
        if origin_of(one) != one.rstrip("/"):
            raise ValueError(f"origins: {one} is not an origin such as https://school.example.org")
    return found

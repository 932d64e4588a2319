"""Environment variables, parsed into values; invalid ones are collected and reported all at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import environ

from playground.lti.platforms import Platform, PlatformError, bare, origin_of, read
from playground.serving.faults import StartError
from scheduler_core.schedulers.extenders.webhooks.allowlist import ApprovalError, Approved

TRUE, FALSE = {"1", "true", "yes", "on", "y", "t"}, {"0", "false", "no", "off", "n", "f"}
HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\]")
SHOWN = 60  # characters of a value in a message
DIGITS = 20

T = TypeVar("T")


class Environment:
    """Parses variables by type; an empty one counts as unset, because Compose passes unset ones as empty."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.problems: list[str] = []

    def text(self, name: str, default: str) -> str:
        """Return the text, stripped of surrounding whitespace."""
        return self.values.get(name, "").strip() or default

    def number(self, name: str, default: int, least: int = 0, most: int = 10**12) -> int:
        """Return a whole number from ``least`` to ``most``; digits may be grouped as in ``10_000``."""
        text = self.text(name, "")
        if not text:
            return default
        try:
            value = int(text) if len(text) <= DIGITS else most + 1
        except ValueError:
            value = most + 1
        if least <= value <= most:
            return value
        return self._wrong(name, text, f"a whole number from {least:,} to {most:,}", default)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean, written in any of the usual spellings."""
        text = self.text(name, "").lower()
        if text in TRUE or text in FALSE:
            return text in TRUE
        return self._wrong(name, text, "true or false", default) if text else default

    def hosts(self, name: str, default: Sequence[str]) -> list[str]:
        """Return host names as Django accepts them: names, addresses, ``.domain`` or ``*``."""
        found = [part.strip() for part in self.text(name, "").split(",") if part.strip()]
        for host in found:
            if not HOST.fullmatch(host):
                expected = "host names separated by commas, without scheme, port and path"
                return self._wrong(name, host, expected, list(default))
        return found or list(default)

    def prefixes(self, name: str) -> list[str]:
        """Return the URL prefixes of a comma-separated list, none by default."""
        found = [part.strip() for part in self.text(name, "").split(",") if part.strip()]
        try:
            Approved(found)
        except ApprovalError as error:
            return self._wrong(name, str(error), "URLs such as http://10.0.0.5:8888/scheduler", [])
        return found

    def platforms(self, name: str) -> tuple[Platform, ...]:
        """Return the learning platforms of the file that is named, none by default."""
        text = self.text(name, "")
        if not text:
            return ()
        try:
            return read(text)
        except PlatformError as error:
            self.problems.extend(f"{name}: {problem}" for problem in error.problems)
            return ()

    def record_store(self, name: str) -> str:
        """Return the address of a record store, with its key and secret; one that begins with / is a file."""
        text = self.text(name, "")
        if text.startswith("/"):
            try:
                with Path(text).open(encoding="utf-8") as file:
                    text = file.read(2_000).strip()
            except (OSError, UnicodeDecodeError) as error:
                return self._wrong_url(name, f"its file cannot be read ({type(error).__name__})", "")
        if not text:
            return ""
        try:
            parts = urlsplit(text)
            usable = bool(parts.username and parts.password and origin_of(f"{parts.scheme}://{bare(parts)}"))
        except ValueError:
            usable = False
        reason = "it has to be https://key:secret@host/path (http:// on this machine alone)"
        return text if usable else self._wrong_url(name, reason, "")

    def home(self, name: str, *, needed: bool) -> str:
        """Return this server's own address as an origin."""
        text = self.text(name, "").rstrip("/")
        if (text and origin_of(text) != text) or (needed and not text):
            return self._wrong(name, text, "this server's address, such as https://podstep.example.org", "")
        return text

    def networks(self, name: str, *, default: Sequence[str], strict: bool = False) -> list[str]:
        """Return the IP networks of a comma-separated list; ``strict`` ones have no bits of a host set."""
        found = [part for part in self.text(name, ",".join(default)).replace(" ", "").split(",") if part]
        for part in found:
            try:
                ip_network(part, strict=strict)
            except ValueError:
                return self._wrong(name, part, "an IP network such as 10.0.0.0/8", list(default))
        return found

    def url(self, name: str, default: str, schemes: Sequence[str]) -> str:
        """Return a server's URL; problems with it are reported without its password."""
        text = self.text(name, "")
        if not text:
            return default
        try:
            parts = urlsplit(text)
            port = parts.port  # raises ValueError
        except ValueError as error:
            return self._wrong_url(name, str(error), default)
        if parts.scheme not in schemes:
            known = ", ".join(f"{scheme}://" for scheme in schemes)
            return self._wrong_url(name, f"it has to begin with one of {known}", default)
        if port == 0:
            return self._wrong_url(name, "port 0", default)
        return text

    def database(self, name: str, default: dict[str, Any]) -> dict[str, Any]:
        """Return Django's database settings for a PostgreSQL or SQLite URL."""
        text = self.url(name, "", ("postgresql", "postgres", "sqlite"))
        if not text:
            return default
        try:
            found: dict[str, Any] = environ.Env.db_url_config(text)
        except Exception as error:  # the library raises exceptions of many types
            self._wrong_url(name, type(error).__name__, "")
            return default
        if not found.get("NAME"):
            self._wrong_url(name, "it names no database", "")
            return default
        return found

    def check(self) -> None:
        """Raise StartError if a variable was invalid."""
        if self.problems:
            raise StartError(self.problems)

    def _wrong(self, name: str, text: str, expected: str, default: T) -> T:
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        self.problems.append(f"{name}={shown!r} in the environment: expected {expected}.")
        return default

    def _wrong_url(self, name: str, reason: str, default: str) -> str:
        self.problems.append(f"{name} in the environment is not a usable address: {reason}.")
        return default

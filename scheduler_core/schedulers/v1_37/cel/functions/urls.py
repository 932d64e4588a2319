"""URLs (k8s.io/apiserver/pkg/cel/library/urls.go, Go's net/url)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_plus

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row
from scheduler_core.schedulers.v1_37.cel.values import CelMap, register_strict

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_HOST = re.compile(
    r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:\"<>]|[^\x00-\x7f]|%[89a-fA-F][0-9a-fA-F])*|\[[0-9A-Fa-f:.%\w]+\](?::\d*)?"
)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


@dataclass(frozen=True)
class URL:
    """A URL in parts; the path is escaped."""

    scheme: str
    host: str
    path: str
    query: str
    text: str

    @property
    def hostname(self) -> str:
        """The host without brackets and port."""
        if self.host.startswith("["):
            return self.host[1:].partition("]")[0]
        return self.host.partition(":")[0] if ":" in self.host else self.host

    @property
    def port(self) -> str:
        """The port, or nothing."""
        rest = self.host.rpartition("]")[2] if self.host.startswith("[") else self.host
        return rest.partition(":")[2]

    def parameters(self) -> CelMap:
        """Return the values of the query, by name."""
        out: dict[str, list[Any]] = {}
        for part in self.query.split("&"):
            if not part or ";" in part or _ESCAPE.search(part):
                continue
            name, _, value = part.partition("=")
            out.setdefault(unquote_plus(name), []).append(unquote_plus(value))
        return CelMap(out.items())


register_strict(URL, "kubernetes.URL")


def parse_url(text: str) -> URL:
    """Parse an absolute URL or an absolute path (url.ParseRequestURI). Raises CelError with its message."""
    try:
        return _parse(text)
    except CelError as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None


def _parse(text: str) -> URL:
    problem = f'parse "{text}": '
    if any(char < " " or char == "\x7f" for char in text):
        raise CelError(f"{problem}net/url: invalid control character in URL")
    if not text:
        raise CelError(f"{problem}empty url")
    scheme = _SCHEME.match(text)
    if text.startswith(":"):
        raise CelError(f"{problem}missing protocol scheme")
    if ":" in text.split("/", 1)[0] and not scheme and not text.startswith("/"):
        raise CelError(f"{problem}first path segment in URL cannot contain colon")
    rest = text[scheme.end() :] if scheme else text
    if not scheme and not rest.startswith("/"):
        raise CelError(f"{problem}invalid URI for request")
    if scheme and not rest.startswith("/"):
        return URL(scheme[0][:-1].lower(), "", "", rest.partition("?")[2], text)
    rest, _, query = rest.partition("#")[0].partition("?")
    host = ""
    if rest.startswith("//") and not rest.startswith("///"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
    return URL(
        scheme[0][:-1].lower() if scheme else "", _host(host, problem), _path(rest, problem), query, text
    )


def _host(text: str, problem: str) -> str:
    host = text.rpartition("@")[2]
    if host.startswith("[") and "]" not in host:
        raise CelError(f"{problem}missing ']' in host")
    port = re.search(r":([^:\]]*)$", host)
    if port and not re.fullmatch(r"\d*", port[1], re.ASCII):
        raise CelError(f'{problem}invalid port ":{port[1]}" after host')
    if not _HOST.fullmatch(host):
        wrong = next((char for char in host if not _HOST.fullmatch(char)), "")
        raise CelError(f'{problem}invalid character "{wrong}" in host name')
    return host


def _path(text: str, problem: str) -> str:
    wrong = _ESCAPE.search(text)
    if wrong:
        raise CelError(f'{problem}invalid URL escape "{wrong[0]}"')
    return quote(text, safe="%/-_.~$&+,:;=@!'()*[]")


def _is_url(text: str) -> bool:
    try:
        parse_url(text)
    except CelError:
        return False
    return True


_ROWS: list[tuple[str, str, Callable[..., Any]]] = [
    ("string_to_url", "url(string) -> url", parse_url),
    ("is_url_string", "isURL(string) -> bool", _is_url),
    ("url_get_scheme", "url.getScheme() -> string", lambda url: url.scheme),
    ("url_get_host", "url.getHost() -> string", lambda url: url.host),
    ("url_get_hostname", "url.getHostname() -> string", lambda url: url.hostname),
    ("url_get_port", "url.getPort() -> string", lambda url: url.port),
    ("url_get_escaped_path", "url.getEscapedPath() -> string", lambda url: url.path),
    ("url_get_query", "url.getQuery() -> map(string, list(string))", URL.parameters),
]

LIBRARY: Library = library([row(*one) for one in _ROWS])

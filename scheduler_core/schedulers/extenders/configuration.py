"""The field ``extenders`` of a Policy (v1.11) and of a KubeSchedulerConfiguration: reading and validation.

The rules are those of v1.11's ``api/validation.ValidatePolicy`` and today's
``apis/config/validation.validateExtenders``, where kube-scheduler exits at the first error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from scheduler_core.kubernetes.durations import parse_duration
from scheduler_core.kubernetes.names import check_key, did_you_mean
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import kind_of, show

Verb = Literal["filter", "prioritize", "preempt", "bind"]
VERBS: tuple[Verb, ...] = ("filter", "prioritize", "preempt", "bind")
DEFAULT_TIMEOUT = 5.0  # seconds, core.DefaultExtenderTimeout
MOST_EXTENDERS = 20
MOST_RESOURCES = 100
LONGEST_URL = 2_000
MOST_WEIGHT = 2**31 - 1

_LABEL = "extender "


class Extender(Struct, frozen=True):
    """One configured extender.

    ``verbs`` maps each configured verb to the end of its path. ``resources`` are the managed resources,
    ``ignored`` those of them that the scheduler's own checks pass over; ``timeout`` is in seconds. ``label``
    names it in records: unlike ``url`` it is unique in a configuration.
    """

    url: str
    label: str
    verbs: Mapping[Verb, str] = field(default_factory=dict)
    weight: int = 0
    timeout: float = DEFAULT_TIMEOUT
    node_cache: bool = False
    ignorable: bool = False
    resources: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def address(self, verb: Verb) -> str:
        """Return the URL that a verb is posted to (HTTPExtender.send)."""
        return f"{self.url.rstrip('/')}/{self.verbs[verb]}"

    def interested(self, names: Iterable[str]) -> bool:
        """Return whether a pod that names these resources is the extender's (HTTPExtender.IsInterested)."""
        return not self.resources or not self.resources.isdisjoint(names)


class ExtenderDialect(Struct, frozen=True):
    """How a document writes its extenders: the names that differ, and whether durations are nanoseconds."""

    https: str
    nanoseconds: bool


POLICY = ExtenderDialect("enableHttps", nanoseconds=True)
CONFIGURATION = ExtenderDialect("enableHTTPS", nanoseconds=False)

_PATHS: Mapping[str, Verb] = {
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "bindVerb": "bind",
}
_OTHERS = (
    *("urlPrefix", "weight", "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable"),
    "tlsConfig",
)


class _Reader:
    """The reading of one list: problems and warnings so far, each with its path."""

    def __init__(self, form: ExtenderDialect) -> None:
        self.form = form
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.binder = ""  # the path of the first extender that binds
        self.managed: dict[str, str] = {}  # resource: the path of its first extender

    def fail(self, path: str, message: str) -> None:
        self.problems.append(Problem(message, path))

    def read(self, path: str, given: Any, label: Callable[[str], str]) -> Extender | None:
        if not isinstance(given, Mapping):
            self.fail(path, f"must be an object with a urlPrefix and verbs, not {kind_of(given)}")
            return None
        before = len(self.problems)
        known = (*_PATHS, *_OTHERS, self.form.https)
        for key in given:
            if key not in known:
                self.warnings.append(
                    Problem(
                        f"unknown field{did_you_mean(str(key), known) or ' of an extender'}", f"{path}.{key}"
                    )
                )
        url = self._url(f"{path}.urlPrefix", given.get("urlPrefix"))
        verbs = {
            verb: end
            for name, verb in _PATHS.items()
            if (end := self._verb(f"{path}.{name}", given.get(name)))
        }
        weight = self._weight(f"{path}.weight", given.get("weight"), scores="prioritize" in verbs)
        timeout = self._timeout(f"{path}.httpTimeout", given.get("httpTimeout"))
        cached = self._flag(f"{path}.nodeCacheCapable", given.get("nodeCacheCapable"))
        ignorable = self._flag(f"{path}.ignorable", given.get("ignorable"))
        self._flag(f"{path}.{self.form.https}", given.get(self.form.https))
        resources, ignored = self._resources(f"{path}.managedResources", given.get("managedResources"))
        self._report(path, given, verbs)
        if len(self.problems) > before:
            return None
        return Extender(url, label(url), verbs, weight, timeout, cached, ignorable, resources, ignored)

    def _report(self, path: str, given: Mapping[str, Any], verbs: Mapping[Verb, str]) -> None:
        """Report what the extenders of a configuration must not have together, and what has no effect."""
        if "bind" in verbs and self.binder:
            self.fail(f"{path}.bindVerb", f"only one extender can bind: {self.binder} does already")
        elif "bind" in verbs:
            self.binder = path
        if given.get("tlsConfig"):
            message = "is not read: a call trusts the authorities of the system and sends no certificate"
            self.warnings.append(Problem(message, f"{path}.tlsConfig"))
        if not verbs:
            message = (
                "has no verb and is never asked: write filterVerb, prioritizeVerb, preemptVerb or bindVerb"
            )
            self.warnings.append(Problem(message, path))

    def _text(self, path: str, value: Any) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        self.fail(path, f"must be a string, not {kind_of(value)}")
        return ""

    def _verb(self, path: str, value: Any) -> str:
        verb = self._text(path, value)
        if not _is_solid(verb):
            self.fail(path, f"{show(verb)} has a blank or a control character: write a verb such as filter")
        return verb

    def _url(self, path: str, value: Any) -> str:
        example = "write the address that the verbs are added to, such as http://10.0.0.5:8888/scheduler"
        if value is None or value == "":
            self.fail(path, f"urlPrefix is missing: {example}")
        elif not isinstance(value, str):
            self.fail(path, f"must be a URL, not {kind_of(value)}: {example}")
        elif len(value) > LONGEST_URL or not _is_url(value):
            self.fail(path, f"{show(value)} is no http or https URL: {example}")
        elif not _is_solid(value):
            self.fail(path, f"{show(value)} has a blank or a control character: {example}")
        else:
            return value
        return ""

    def _weight(self, path: str, value: Any, *, scores: bool) -> int:
        if value is not None and (type(value) is not int or abs(value) > MOST_WEIGHT):
            self.fail(path, f"must be an integer, not {show(value)}")
        elif scores and (value or 0) <= 0:
            self.fail(path, "an extender with a prioritizeVerb needs a positive weight, such as weight: 1")
        return value if type(value) is int else 0

    def _flag(self, path: str, value: Any) -> bool:
        if value is not None and not isinstance(value, bool):
            quoted = " (without quotes)" if str(value).lower() in {"true", "false"} else ""
            self.fail(path, f"must be true or false{quoted}, not {show(value)}")
        return value is True

    def _timeout(self, path: str, value: Any) -> float:
        """Return seconds; 0 and absent mean the default of 5."""
        seconds: float | None = 0.0
        if self.form.nanoseconds and value is not None:
            seconds = value / 1e9 if type(value) is int and 0 <= value < 2**63 else None
            if seconds is None:
                self.fail(path, f"must be nanoseconds, such as 5000000000 for 5 s, not {show(value)}")
        elif value is not None:
            seconds = parse_duration(value) if isinstance(value, str) else None
            if seconds is None:
                self.fail(path, f"must be a duration such as 5s or 100ms, not {show(value)}")
        return seconds or DEFAULT_TIMEOUT

    def _resources(self, path: str, value: Any) -> tuple[frozenset[str], frozenset[str]]:
        if value is None:
            return frozenset(), frozenset()
        if not isinstance(value, list) or len(value) > MOST_RESOURCES:
            self.fail(path, f"must be a list of at most {MOST_RESOURCES} resources, not {kind_of(value)}")
            return frozenset(), frozenset()
        names, ignored = set(), set()
        for place, entry in enumerate(value):
            at = f"{path}[{place}]"
            name = entry.get("name") if isinstance(entry, Mapping) else None
            if not isinstance(name, str) or not _is_extended(name):
                message = f"must name an extended resource such as example.com/gpu, not {show(name)}"
                self.fail(f"{at}.name", message)
                continue
            if name in self.managed:
                self.fail(f"{at}.name", f"{name} is managed by {self.managed[name]} already")
            self.managed.setdefault(name, path)
            names.add(name)
            if self._flag(f"{at}.ignoredByScheduler", entry.get("ignoredByScheduler")):
                ignored.add(name)
        return frozenset(names), frozenset(ignored)


def _is_solid(value: str) -> bool:
    """Return whether all characters are ones that a URL may have; urlsplit drops some of the others."""
    return value.isprintable() and " " not in value


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _is_extended(name: str) -> bool:
    """Return whether a resource is an extended one (v1helper.IsExtendedResourceName)."""
    domain, slash, _ = name.partition("/")
    native = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    return bool(slash) and not native and not name.startswith("requests.") and check_key(name) is None


def read_extenders(
    value: Any, form: ExtenderDialect
) -> tuple[tuple[Extender, ...], list[Problem], list[Problem]]:
    """Return the extenders in order, the errors and the warnings, each with its path."""
    reader = _Reader(form)
    if value is None:
        return (), [], []
    if not isinstance(value, list) or len(value) > MOST_EXTENDERS:
        remedy = "put a '-' before it" if isinstance(value, Mapping) else f"at most {MOST_EXTENDERS} are read"
        reader.fail("extenders", f"must be a list of extenders, not {kind_of(value)}: {remedy}")
        return (), reader.problems, []
    seen: dict[str, int] = {}

    def label(url: str) -> str:
        seen[url] = seen.get(url, 0) + 1
        return f"{_LABEL}{url}" if seen[url] == 1 else f"{_LABEL}{url} ({seen[url]})"

    read = [reader.read(f"extenders[{place}]", entry, label) for place, entry in enumerate(value)]
    return tuple(one for one in read if one is not None), reader.problems, reader.warnings


def is_extender(name: str) -> bool:
    """Return whether a row of the matrix or of the scores is an extender's: its name is its label."""
    return name.startswith(_LABEL)


def ignored_resources(extenders: Iterable[Extender]) -> frozenset[str]:
    """Return the resources that the scheduler's own checks pass over, for their extender counts them."""
    return frozenset(name for extender in extenders for name in extender.ignored)

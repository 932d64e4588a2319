"""Readers: small functions that convert a manifest's value to a typed one, created from tables.

A reader receives the value and :class:`At`, its place. It returns the typed value, or
``None`` after adding an error to the place's report; reading continues, so that one pass
finds all errors. A null is an absent field, as in Kubernetes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from scheduler_core.kubernetes.names import check_key, check_value, did_you_mean
from scheduler_core.kubernetes.problems import Owner
from scheduler_core.kubernetes.quantity import QuantityError, is_whole, parse_quantity, parse_resource
from scheduler_core.kubernetes.support import ApiType, Reported, part_of

Reader = Callable[[Any, "At"], Any]
Steps = tuple[str | int, ...]
MOST_KEPT = 1_000  # values that are read once
NAME = 253  # the maximum length of an object's name


class Outline(Struct, frozen=True):
    """The schema of a reader, for editors' completion and help. ``word`` is its displayed type.

    ``fields`` are those that are read, with their readers; ``unread`` ones have no effect on scheduling, and
    ``reported`` ones cause warnings. ``part`` classifies the fields of a type of the Kubernetes API. ``item``
    reads each item of a list or value of a map; ``words`` are the allowed values of a string.
    """

    word: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    reported: frozenset[str] = frozenset()
    part: ApiType | None = None
    item: Reader | None = None
    words: tuple[str, ...] = ()


_OUTLINES: WeakKeyDictionary[Reader, Outline] = WeakKeyDictionary()


def outline_of(read: Reader) -> Outline | None:
    """Return the schema of a reader; None if it accepts any value, or has no schema registered."""
    return _OUTLINES.get(read)


def outlined(read: Reader, as_: Reader | Outline) -> Reader:
    """Set the schema of a reader, given as such or by another reader that has it; return the reader."""
    found = as_ if isinstance(as_, Outline) else outline_of(as_)
    if found is not None:
        _OUTLINES[read] = found
    return read


class Unknown(Struct):
    """A field that is not in any table: where it first occurred, and how often."""

    at: At
    known: tuple[str, ...]
    count: int = 1


class Use(Struct):
    """A field that other clusters may honor: its first place, the shape of its path, and its objects."""

    row: Reported
    at: At
    shape: tuple[str, ...]
    owners: dict[Owner, None] = field(default_factory=dict)  # in the order of the text


class Report(Struct):
    """The findings of readers. If ``strict``, what the API server rejects is an error, not a warning."""

    strict: bool = True
    limit: int = 200
    errors: list[tuple[At, str]] = field(default_factory=list)
    warnings: list[tuple[At, str]] = field(default_factory=list)
    unknown: dict[tuple[str, ...], Unknown] = field(default_factory=dict)
    uses: dict[tuple[str, str], Use] = field(default_factory=dict)  # by type and field
    unlisted: int = 0  # findings beyond the limit
    noted: int = 0  # findings of every kind so far
    read: dict[tuple[int, Reader], tuple[Any, Any]] = field(default_factory=dict)
    """Values that :func:`once` read without a finding, by identity, each with what was made of it."""
    expressions: set[str] = field(default_factory=set)  # those that were compiled
    compiled: int = 0  # characters of them


class DocumentRoot(Struct, frozen=True):
    """The root of a document outside a bundle: its kind, and the document as far as it is known."""

    kind: str
    value: Mapping[str, Any] = field(default_factory=dict)


class At:
    """A place in a document: a chain of keys and indices up to the document itself."""

    __slots__ = ("key", "parent", "report")

    def __init__(self, report: Report, parent: At | None, key: Any) -> None:
        self.report = report
        self.parent = parent
        self.key = key  # the document for the root, otherwise a field's name or an index

    def child(self, key: str | int) -> At:
        """Return the place of a field or an item."""
        return At(self.report, self, key)

    @property
    def root(self) -> Any:
        """The document that contains the place."""
        at = self
        while at.parent is not None:
            at = at.parent
        return at.key

    @property
    def steps(self) -> Steps:
        """The path within the document."""
        out: list[str | int] = []
        at = self
        while at.parent is not None:
            out.append(at.key)
            at = at.parent
        return tuple(reversed(out))

    def error(self, message: str) -> None:
        """Report an error, which makes the input unusable."""
        self._add(self.report.errors, message)

    def warn(self, message: str) -> None:
        """Report a warning."""
        self._add(self.report.warnings, message)

    def refuse(self, message: str) -> None:
        """Report what the API server would reject: an error, or a warning where admission is off."""
        self._add(self.report.errors if self.report.strict else self.report.warnings, message)

    def _add(self, to: list[tuple[At, str]], message: str) -> None:
        self.report.noted += 1
        if len(to) < self.report.limit:
            to.append((self, message))
        else:
            self.report.unlisted += 1

    def unknown(self, key: str, known: tuple[str, ...]) -> None:
        """Record a field that is not in any table; fields are counted per shape of their path."""
        self._count(self.report.unknown, key, known)

    def used(self, part: ApiType, row: Reported, value: Any) -> None:
        """Record a field that other clusters may honor, if its value has an effect where it is honored."""
        self.report.noted += 1
        manifest = self.root.value
        if value is None or not row.when(value, manifest) or _settled(row, manifest):
            return
        use = self.report.uses.get((part.type, row.field))
        if use is None:
            use = Use(row, self.child(row.field), self._shape(row.field))
            self.report.uses[part.type, row.field] = use
        use.owners[owner_of(manifest)] = None

    def _shape(self, key: str) -> tuple[str, ...]:
        return (str(self.root.kind), *("[]" if isinstance(s, int) else s for s in self.steps), key)

    def _count(self, seen: dict[tuple[str, ...], Unknown], key: str, known: tuple[str, ...]) -> None:
        self.report.noted += 1
        shape = self._shape(key)
        if shape in seen:
            seen[shape].count += 1
        elif len(seen) < self.report.limit:
            seen[shape] = Unknown(self.child(key), known)
        else:
            self.report.unlisted += 1


def _settled(row: Reported, manifest: Mapping[str, Any]) -> bool:
    """Return whether the field no longer has an effect on a pod: the pod is terminal, or already bound."""
    if manifest.get("kind") != "Pod":
        return False
    over = part_of(manifest, "status", "phase") in ("Succeeded", "Failed")
    return over or (row.placing and bool(part_of(manifest, "spec", "nodeName")))


def owner_of(manifest: Mapping[str, Any]) -> Owner:
    """Return kind, namespace and name of an object from its manifest, which may be invalid."""
    meta = manifest.get("metadata")
    name = part_of(meta, "name") or f"{part_of(meta, 'generateName') or ''}…"
    return str(manifest.get("kind"))[:NAME], str(part_of(meta, "namespace") or "")[:NAME], str(name)[:NAME]


def path_text(steps: Steps) -> str:
    """Format steps like ``items[3].spec.containers[0].resources.requests.cpu``."""
    out = ""
    for step in steps:
        if isinstance(step, int):
            out += f"[{step}]"
        elif step and all(c not in step for c in ".[]/ "):
            out += f".{step}" if out else step
        else:
            out += f"[{step!r}]"
    return out


_STEP = re.compile(r"\[(\d+)\]|\['([^']+)'\]|([^.\[\]]+)")


def place_of(at: At, path: str) -> At:
    """Return the place at a path, formatted like :func:`path_text`, relative to ``at``."""
    for step in steps_of(path):
        at = at.child(step)
    return at


def steps_of(path: str) -> Steps:
    """Parse a path formatted by :func:`path_text` into its steps."""
    return tuple(int(index) if index else quoted or name for index, quoted, name in _STEP.findall(path))


_TYPES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


def kind_of(value: Any) -> str:
    """Return the name of a value's type, for error messages."""
    return _TYPES.get(type(value), "null" if value is None else type(value).__name__)


def show(value: Any) -> str:
    """Return a short representation of a value, for error messages."""
    text = repr(value) if not isinstance(value, (dict, list)) else kind_of(value)
    return text if len(text) <= 80 else text[:77] + "…"


# --- scalars


def text(value: Any, at: At) -> str | None:
    """Read a string. Numbers and booleans are errors, as in Kubernetes: they must be quoted."""
    if type(value) is str:
        return value
    hint = ""
    if isinstance(value, bool):
        hint = ": write it in quotes (plain y, n, yes, no, on, off, true and false are booleans in YAML)"
    elif isinstance(value, int):
        hint = f': write it in quotes, "{str(value)[:40]}"'
    elif isinstance(value, float):
        hint = ": write it in quotes"
    at.error(f"must be a string, not {kind_of(value)}{hint}")
    return None


def boolean(value: Any, at: At) -> bool | None:
    """Read true or false."""
    if type(value) is bool:
        return value
    hint = " (without quotes)" if isinstance(value, str) and value.lower() in ("true", "false") else ""
    at.error(f"must be true or false{hint}, not {show(value)}")
    return None


def integer(low: int = -(2**31), high: int = 2**31 - 1) -> Reader:
    """Create a reader of integers from ``low`` to ``high``."""

    def read(value: Any, at: At) -> int | None:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            quoted = " (without quotes)" if isinstance(value, str) and value.lstrip("-").isdecimal() else ""
            at.error(f"must be an integer{quoted}, not {show(value)}")
            return None
        if not low <= value <= high:
            least = f"at least {low}" if value < low else f"at most {high}"
            at.error(f"must be {least}, not {show(value)}")
            return None
        return value

    return outlined(read, Outline("integer"))


def admitted(read: Reader, low: int, high: int) -> Reader:
    """Create a reader of numbers, of which the API server admits only those from ``low`` to ``high``."""

    def checked_range(value: Any, at: At) -> Any:
        number = read(value, at)
        if number is not None and not low <= number <= high:
            at.refuse(f"must be from {low:,} to {high:,}, not {number:,}")
        return number

    return outlined(checked_range, read)


def enum(*allowed: str) -> Reader:
    """Create a reader of an enumeration. An empty string is allowed if it is among the values."""
    listed = ", ".join(a or '""' for a in allowed)

    def read(value: Any, at: At) -> str | None:
        word = text(value, at)
        if word is None or word in allowed:
            return word
        hint = did_you_mean(word, allowed) or f": allowed are {listed}"
        at.error(f"{show(word)} is not allowed{hint}")
        return None

    return outlined(read, Outline("string", words=tuple(word for word in allowed if word)))


def checked(check: Callable[[str], str | None]) -> Reader:
    """Create a reader of strings that satisfy a rule of :mod:`scheduler_core.kubernetes.names`."""

    def read(value: Any, at: At) -> str | None:
        word = text(value, at)
        if word is not None and (broken := check(word)):
            at.refuse(f"{show(word)} {broken}")  # the API server's rule: without admission only a warning
            return None if at.report.strict else word
        return word

    return outlined(read, Outline("string"))


def _number(value: Any) -> str | None:
    if type(value) is str:
        return value
    if type(value) in (int, float):
        return str(value)
    return None


def _amount(value: Any, at: At, scale: int, *, whole: bool = False) -> int | None:
    written = _number(value)
    if written is None:
        at.error(f"must be a quantity such as 500m or 1.5Gi, not {kind_of(value)}")
        return None
    try:
        amount = parse_quantity(written, scale)
    except QuantityError as error:
        at.error(str(error))
        return None
    if amount < 0:
        at.error(f"{show(value)} is negative: an amount must be at least 0")
        return None
    if whole and not is_whole(written):
        at.refuse(f"{show(value)} is a fraction: this resource is counted in whole numbers, such as {amount}")
    return amount


def _counted(name: str) -> bool:
    """Return whether a resource is an integer: pods and extended resources (helper.IsIntegerResourceName)."""
    return name == "pods" or ("/" in name and "kubernetes.io/" not in name)


_OWN_RESOURCE = ": a name of your own needs a domain, such as example.com/gpu"
STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods", "storage")


def resources(value: Any, at: At) -> dict[str, int] | None:
    """Read a map of resource name to quantity: cpu in millicores, the others in base units."""
    if type(value) is not dict:
        at.error(f"must be an object of resource names and quantities, not {kind_of(value)}")
        return None
    out: dict[str, int] = {}
    for name, item in value.items():
        if type(item) is str:
            try:
                amount = parse_resource(name, item)
            except QuantityError as error:
                at.child(name).error(str(error))
                continue
            if amount >= 0 and (name != "pods" or item.isdecimal()):
                out[name] = amount
                if name in STANDARD_RESOURCES:
                    continue
        read = _amount(item, at.child(name), 1000 if name == "cpu" else 1, whole=_counted(name))
        if read is not None:
            out[name] = read
        _check_resource(name, at)
    return out


def _check_resource(name: str, at: At) -> None:
    if name in STANDARD_RESOURCES or name.startswith(("hugepages-", "attachable-volumes-")):
        return
    if "/" not in name:
        hint = did_you_mean(name, STANDARD_RESOURCES) or _OWN_RESOURCE
        at.child(name).refuse(f"{show(name)} is not a resource{hint}")
    elif broken := check_key(name):
        at.child(name).refuse(f"the resource name {show(name)} {broken}")


# --- containers


def mapping(read_value: Reader, check: Callable[[str], str | None] | None = None) -> Reader:
    """Create a reader of an object with arbitrary keys and values of one type."""

    def read(value: Any, at: At) -> dict[str, Any] | None:
        if type(value) is not dict:
            at.error(f"must be an object of keys and values, not {kind_of(value)}")
            return None
        out = {}
        for key, item in value.items():
            if check is not None and (broken := check(key)):
                at.child(key).error(f"the key {show(key)} {broken}")
            got = read_value(item, at.child(key)) if item is not None else ""
            if got is not None:
                out[key] = got
        return out

    return outlined(read, Outline("map", item=read_value))


def string_map(value: Any, at: At) -> dict[str, str] | None:
    """Read an object of strings, such as annotations."""
    if type(value) is dict and all(type(v) is str for v in value.values()):
        return value
    read: dict[str, str] | None = _strings(value, at)
    return read


_strings = mapping(text)


def labels(value: Any, at: At) -> dict[str, str] | None:
    """Read labels: keys and values are validated like in Kubernetes."""
    if type(value) is dict:
        for key, item in value.items():
            if type(item) is not str or check_key(key) or check_value(item):
                break
        else:
            return value
    read: dict[str, str] | None = _labels(value, at)
    return read


_labels = mapping(checked(check_value), check_key)


def list_of(read_item: Reader) -> Reader:
    """Create a reader of lists. Invalid items are omitted (and reported)."""

    def read(value: Any, at: At) -> tuple[Any, ...] | None:
        if type(value) is not list:
            hint = ": put a '-' before it" if isinstance(value, dict) else ""
            at.error(f"must be a list, not {kind_of(value)}{hint}")
            return None
        out = []
        for index, item in enumerate(value):
            place = at.child(index)
            if item is None:
                place.error("must not be null")
                continue
            got = read_item(item, place)
            if got is not None:
                out.append(got)
        return tuple(out)

    return outlined(read, Outline("list", item=read_item))


class Field(Struct, frozen=True):
    """One row of a record's table: the attribute, the reader of the value, and whether it is required."""

    attr: str
    read: Reader
    required: bool = False


def record(
    build: Callable[..., Any],
    fields: Mapping[str, Field],
    unread: str = "",
    part: ApiType | None = None,
    check: Callable[[dict[str, Any], At], None] | None = None,
) -> Reader:
    """Create a reader of objects with named fields.

    ``part`` classifies the fields of a type of the Kubernetes API; ``unread`` names (separated by spaces)
    those of any other document that have no effect. A field that is in none of them nor in ``fields`` is
    reported as unknown. ``check`` is called with the values read, before ``build``.
    """
    skipped = frozenset(unread.split()) | (part.passed_over if part is not None else frozenset())
    reported = {row.field: row for row in part.reported} if part is not None else {}
    known = (*fields, *sorted(skipped | (reported.keys() - fields.keys())))
    required = tuple(name for name, f in fields.items() if f.required)

    def read(value: Any, at: At) -> Any:
        if type(value) is not dict:
            at.error(f"must be an object with fields such as {', '.join(known[:3])}, not {kind_of(value)}")
            return None
        out: dict[str, Any] = {}
        for key, item in value.items():
            row = fields.get(key)
            if key in reported and part is not None:
                at.used(part, reported[key], item)
            if row is None:
                if key not in skipped and key not in reported:
                    at.unknown(key, known)
            elif item is not None:
                got = row.read(item, At(at.report, at, key))
                if got is not None:
                    out[row.attr] = got
        whole = True
        for name in required:
            if fields[name].attr not in out:
                whole = False
                if value.get(name) is None:
                    at.child(name).error(f"{name} is missing")
        if not whole:
            return None
        if check is not None:
            check(out, at)
        return build(**out)

    return outlined(read, Outline("object", fields, skipped, frozenset(reported), part))


def once(read: Reader) -> Reader:
    """Create a reader that reads an object once, unless there are findings: many manifests may share it."""

    def shared(value: Any, at: At) -> Any:
        report, key = at.report, (id(value), read)
        known = report.read.get(key)
        if known is None:
            before = report.noted
            known = value, read(value, at)  # with the value, whose identity is the key
            if report.noted == before and len(report.read) < MOST_KEPT:
                report.read[key] = known
        return known[1]

    return outlined(shared, read)


def opaque(value: Any, at: At) -> Any:
    """Accept any value unchanged."""
    del at
    return value


_QUANTITY = outlined(lambda value, at: _amount(value, at, 1), Outline("Quantity"))
outlined(text, Outline("string"))
outlined(boolean, Outline("boolean"))
outlined(resources, Outline("map", item=_QUANTITY))
outlined(string_map, Outline("map", item=text))
outlined(labels, Outline("map", item=text))

"""A field of a form: its name, how its text is parsed, and the messages for invalid text.

Every field is typed as one line of text. Lists are separated by commas and written as ``kubectl`` accepts
them: labels ``app=web, tier=front``, taints ``gpu=yes:NoSchedule``, selectors ``disk in (ssd, nvme)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.revisions import EFFECTS
from scheduler_core.kubernetes.names import check_key, check_name, check_namespace, check_value
from scheduler_core.kubernetes.quantity import QuantityError, parse_quantity

Values = Mapping[str, Any]
Problems = list[tuple[str, str]]  # a field's name: what is wrong, and what would be right

TEXT_MOST = 2_000  # characters per field
LIST_MOST = 40  # entries per field

_INTEGER = re.compile(r"[+-]?\d{1,12}", re.ASCII)
_TAINT = re.compile(r"([^=:\s]+)(?:=([^=:\s]*))?:(\w+)")
_TOLERATION = re.compile(r"(\*|[^=:\s]+)(?:=([^=:\s]*))?(?::(\w+))?")
_PORT = re.compile(r"(\d{1,5})(?::(\d{1,5}))?(?:/(\w+))?", re.ASCII)
_ENTRY = re.compile(r"(?:\([^()]*+\)|[^,])++")
_IN = re.compile(r"([^\s!=<>()]+)\s+(in|notin)\s*\(([^()]*)\)")
_COMPARED = re.compile(r"([^\s!=<>()]+)\s*(==|!=|=|>|<)\s*([^\s!=<>()]*)")


class FieldError(ValueError):
    """The text cannot be used; the message explains what is valid."""


class FormField(Struct, frozen=True):
    """One row of a form. ``type`` names a parser of :data:`TYPES`; ``low`` and ``high`` bound numbers.

    ``place`` is a pattern of the field's paths in the generated manifests, to map the loader's messages to
    it. ``suggest`` names the browser's suggestions: ``labels``, ``taints``, ``priorityClasses`` and the like.
    """

    name: str
    label: str
    type: str = "text"
    default: str = ""
    placeholder: str = ""
    hint: str = ""
    section: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    low: int = 0
    high: int = 2**31 - 1
    required: bool = False
    missing: str = ""  # the message for a required field that is empty
    suggest: str = ""
    place: str = ""

    def wire(self) -> dict[str, Any]:
        """Return the field as the browser needs it."""
        data: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "type": self.type,
            "default": self.default,
            "placeholder": self.placeholder,
            "hint": self.hint,
            "section": self.section,
            "suggest": self.suggest,
        }
        if self.choices:
            data["choices"] = [list(choice) for choice in self.choices]
        return data


def read(fields: Sequence[FormField], given: Mapping[str, Any]) -> tuple[dict[str, Any], Problems]:
    """Return the value of every field, and the errors in the texts in ``given``.

    A field that is not given has its default; one that is wrong or empty has the value ``None``, or the empty
    value of its type. JSON's numbers and booleans are read as their texts.
    """
    values: dict[str, Any] = {}
    problems: Problems = []
    for field in fields:
        text = _typed(given.get(field.name), field)
        values[field.name] = EMPTY.get(field.type)
        try:
            if len(text) > TEXT_MOST:
                raise FieldError(f"must be at most {TEXT_MOST:,} characters long")
            if text:
                values[field.name] = TYPES[field.type](text, field)
            elif field.required:
                raise FieldError(field.missing or f"write one, such as {field.placeholder}")
        except FieldError as error:
            problems.append((field.name, str(error)))
    return values, problems


def _typed(value: Any, field: FormField) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, (str, int, float)) else field.default


# --- parsers: take the trimmed text and its field


def _text(text: str, field: FormField) -> str:
    del field
    return text


def _name(text: str, field: FormField) -> str:
    rule = (check_namespace if field.name == "namespace" else check_name)(text)
    if rule:
        raise FieldError(f"{text[:63]!r} {rule}")
    return text


def _integer(text: str, field: FormField) -> int:
    if not _INTEGER.fullmatch(text) or not field.low <= int(text) <= field.high:
        most = f"{field.low:,} to {field.high:,}" if field.high < 2**31 - 1 else f"{field.low:,} on"
        raise FieldError(f"must be a whole number from {most}, not {text[:40]!r}")
    return int(text)


def _quantity(text: str, field: FormField) -> str:
    amount(text, 1000 if field.type == "cpu" else 1)
    return text


def amount(text: str, scale: int = 1) -> int:
    """Return a quantity of at least 0 times ``scale``. Raises FieldError."""
    try:
        found = parse_quantity(text, scale)
    except QuantityError as error:
        raise FieldError(str(error)) from error
    if found < 0:
        raise FieldError(f"must be at least 0, not {text[:40]!r}")
    return found


def _choice(text: str, field: FormField) -> str:
    names = [name for name, _ in field.choices]
    if text not in names:
        raise FieldError(
            f"must be one of {', '.join(name or 'nothing' for name in names)}, not {text[:40]!r}"
        )
    return text


def _flag(text: str, field: FormField) -> bool:
    if text not in ("true", "false"):
        raise FieldError(f"must be true or false, not {text[:40]!r}")
    del field
    return text == "true"


def entries(text: str) -> list[str]:
    """Split at the commas outside brackets. Raises FieldError for too many entries."""
    found = [part.strip() for part in _ENTRY.findall(text)]
    found = [part for part in found if part]
    if len(found) > LIST_MOST:
        raise FieldError(f"must be at most {LIST_MOST} entries, not {len(found)}")
    return found


def _pair(text: str, example: str) -> tuple[str, str]:
    key, sign, value = (part.strip() for part in text.partition("="))
    if not sign:
        raise FieldError(f"{text[:63]!r} must be key=value, such as {example}")
    return key, value


def _checked(key: str, value: str) -> None:
    for text, rule in ((key, check_key(key)), (value, check_value(value))):
        if rule:
            raise FieldError(f"{text[:63]!r} {rule}")


def _labels(text: str, field: FormField) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries(text):
        key, value = _pair(entry, field.placeholder.partition(",")[0] or "app=web")
        _checked(key, value)
        if key in found:
            raise FieldError(f"{key[:63]!r} is a duplicate")
        found[key] = value
    return found


def _resources(text: str, field: FormField) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries(text):
        name, value = _pair(entry, field.placeholder or "nvidia.com/gpu=1")
        if rule := check_key(name):
            raise FieldError(f"{name[:63]!r} {rule}")
        amount(value)
        found[name] = value
    return found


def _effect(text: str) -> str:
    if text not in EFFECTS:
        raise FieldError(f"the effect {text[:40]!r} must be one of {', '.join(EFFECTS)}")
    return text


def _taints(text: str, field: FormField) -> list[dict[str, str]]:
    del field
    found = []
    for entry in entries(text):
        match = _TAINT.fullmatch(entry)
        if match is None:
            raise FieldError(
                f"{entry[:63]!r} is not a taint: write key=value:effect, such as gpu=yes:NoSchedule"
            )
        _checked(match[1], match[2] or "")
        value = {"value": match[2]} if match[2] else {}
        found.append({"key": match[1], **value, "effect": _effect(match[3])})
    return found


def _tolerations(text: str, field: FormField) -> list[dict[str, str]]:
    del field
    found = []
    for entry in entries(text):
        match = _TOLERATION.fullmatch(entry)
        if match is None:
            raise FieldError(
                f"{entry[:63]!r} is not a toleration: write key=value:effect, key:effect, key, or * for all"
            )
        toleration: dict[str, str] = {} if match[1] == "*" else {"key": match[1]}
        if match[1] != "*":
            _checked(match[1], match[2] or "")
        toleration["operator"] = "Equal" if match[2] is not None else "Exists"
        if match[2] is not None:
            toleration["value"] = match[2]
        if match[3]:
            toleration["effect"] = _effect(match[3])
        found.append(toleration)
    return found


def _ports(text: str, field: FormField) -> list[dict[str, Any]]:
    del field
    found = []
    for entry in entries(text):
        match = _PORT.fullmatch(entry)
        numbers = [int(number) for number in match.groups()[:2] if number] if match else []
        if match is None or not all(0 < number < 65_536 for number in numbers):
            raise FieldError(
                f"{entry[:63]!r} is not a port: write 8080, 8080:80 with a host port, or 53:53/UDP"
            )
        if match[3] not in (None, "TCP", "UDP", "SCTP"):
            raise FieldError(f"the protocol {match[3][:20]!r} must be one of TCP, UDP, SCTP")
        port: dict[str, Any] = {"containerPort": numbers[0]}
        if match[2]:
            port["hostPort"] = numbers[1]
        if match[3]:
            port["protocol"] = match[3]
        found.append(port)
    return found


_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}


def _selector(text: str, field: FormField) -> list[dict[str, Any]]:
    """Parse what ``kubectl -l`` accepts, and ``key > 3`` as in node affinity, as match expressions."""
    del field
    return [_requirement(entry) for entry in entries(text)]


def _requirement(entry: str) -> dict[str, Any]:
    match = _IN.fullmatch(entry) or _COMPARED.fullmatch(entry)
    if match is None:
        name = entry.removeprefix("!").strip()
        if rule := check_key(name):
            raise FieldError(
                f"{entry[:63]!r} is not a selector ({rule}): write key=value, key!=value, "
                "key in (a, b), key notin (a, b), key, !key or key>3"
            )
        return {"key": name, "operator": "DoesNotExist" if entry.startswith("!") else "Exists"}
    key, operator, rest = match.groups()
    values = [value.strip() for value in rest.split(",")]
    for value in values:
        _checked(key, value)
    return {"key": key, "operator": _OPERATORS[operator], "values": values}


def _names(text: str, field: FormField) -> list[str]:
    return [_name(entry, field) for entry in entries(text)]


TYPES: Mapping[str, Callable[[str, FormField], Any]] = {
    "text": _text,
    "name": _name,
    "integer": _integer,
    "cpu": _quantity,
    "quantity": _quantity,
    "choice": _choice,
    "flag": _flag,
    "labels": _labels,
    "resources": _resources,
    "taints": _taints,
    "tolerations": _tolerations,
    "ports": _ports,
    "selector": _selector,
    "names": _names,
}
"""The parser of each type of field."""

EMPTY: Mapping[str, Any] = {
    "labels": {},
    "resources": {},
    "taints": [],
    "tolerations": [],
    "ports": [],
    "selector": [],
    "names": [],
    "flag": False,
    "text": "",
    "name": "",
    "cpu": "",
    "quantity": "",
    "choice": "",
}
"""The value of an empty field, by type; ``None`` for a number."""

"""The hash that names ReplicaSets: FNV-1a of a template as Go prints its structures (ComputeHash).

``pod_template.json`` has the fields of each type that a template may contain, in the order of the API's
v1.37: Go's name, the manifest's name ("" for an embedded type), and the type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.cluster.v1_37.template_defaults import defaulted

_TYPES = Path(__file__).with_name("pod_template.json")
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_PACKAGES = {"core": "v1", "meta": "v1"}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_MAP = re.compile(r"map\[([^]]+)\](.*)")


def template_hash(template: Manifest, collisions: int = 0) -> str:
    """Return the label ``pod-template-hash`` of a template; ``collisions`` is status.collisionCount."""
    text = _value("core.PodTemplateSpec", defaulted(template), typed=True).encode()
    if collisions:
        text += collisions.to_bytes(4, "little") + bytes(4)
    number = 0x811C9DC5
    for byte in text:
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return encoded(number)


def encoded(number: int) -> str:
    """Return a hash as names have it (rand.SafeEncodeString)."""
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))


@cache
def _types() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(_TYPES.read_text())
    return found


@cache
def _name(kind: str) -> str:
    """Return a type as Go's reflection names it."""
    for prefix in ("*", "[]"):
        if kind.startswith(prefix):
            return prefix + _name(kind.removeprefix(prefix))
    if found := _MAP.fullmatch(kind):
        return f"map[{_name(found[1])}]{_name(found[2])}"
    package, _, name = kind.rpartition(".")
    return f"{_PACKAGES.get(package, package)}.{name}" if package else name


def _value(kind: str, value: Any, *, typed: bool) -> str:
    """Return a value as ``%#v`` prints it, its type in front if ``typed``.

    A field that no scheduler reads may hold what the API server would refuse; it counts as empty.
    """
    prefix = f"({_name(kind)})" if typed else ""
    if value is None and (kind.startswith(("*", "[]", "map[")) or _is_nil_map(kind)):
        return f"{prefix}<nil>"
    if kind.startswith("*"):
        return prefix + _value(kind[1:], value, typed=False)
    if kind.startswith("[]"):
        items = value if isinstance(value, list) else ()
        return f"{prefix}[{' '.join(_value(kind[2:], one, typed=False) for one in items)}]"
    if found := _MAP.fullmatch(kind):
        value = value if isinstance(value, Mapping) else {}
        rows = (f"{key}:{_value(found[2], value[key], typed=False)}" for key in sorted(value))
        return f"{prefix}map[{' '.join(rows)}]"
    if kind in _SPECIAL:
        return prefix + _SPECIAL[kind](value)
    known = _types().get(kind)
    if isinstance(known, str):
        return prefix + _value(known, value, typed=False)
    if known is not None:
        return prefix + _struct(known, value if isinstance(value, Mapping) else {})
    return prefix + _plain(kind, value)


def _is_nil_map(kind: str) -> bool:
    known = _types().get(kind)
    return isinstance(known, str) and known.startswith(("map[", "[]"))


def _struct(fields: list[list[str]], value: Mapping[str, Any]) -> str:
    rows = (
        f"{name}:{_value(kind, value.get(key) if key else _embedded(name, value), typed=True)}"
        for name, key, kind in fields
    )
    return f"{{{' '.join(rows)}}}"


def _embedded(name: str, value: Mapping[str, Any]) -> Any:
    return value.get("metadata") if name == "ObjectMeta" else value


def _plain(kind: str, value: Any) -> str:
    if kind == "bool":
        return "true" if value else "false"
    return str(value or "" if kind in ("string", "types.UID") else value or 0)


def _amount(value: Any) -> str:
    number, text = ("0", value) if isinstance(value, str) else (str(value or 0), "")
    return f"{{Type:(intstr.Type){int(bool(text))} IntVal:(int32){number} StrVal:(string){text}}}"


def _quantity(value: Any) -> str:
    """Return a quantity as parsed; its text is kept where it is canonical (ParseQuantity)."""
    text = str(value if value is not None else "")
    found = re.fullmatch(r"([+-]?)(\d*+)(?:\.(\d*+))?([a-zA-Z]*)", text)
    if found is None or not text:
        return _parsed(0, 0, "", "")
    sign, whole, part, suffix = found[1], found[2].lstrip("0") or "0", (found[3] or "").rstrip("0"), found[4]
    digits = whole + part if whole != "0" or not part else part
    number = int(f"{sign}{digits}")
    if suffix in _BINARY:
        kept = number & 7 != 0 and not part
        return _parsed(number << _BINARY[suffix], 0, text if kept else "", "BinarySI")
    scale = _DECIMAL.get(suffix, 0) - len(part)
    kept = text == "0" or (scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0")
    return _parsed(number, scale, text if kept else "", "DecimalSI")


def _parsed(number: int, scale: int, text: str, kind: str) -> str:
    amount = f"i:(resource.int64Amount){{value:(int64){number} scale:(resource.Scale){scale}}}"
    rest = f"d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){text} Format:(resource.Format){kind}"
    return f"{{{amount} {rest}}}"


_SPECIAL: dict[str, Callable[[Any], str]] = {
    "resource.Quantity": _quantity,
    "meta.Time": lambda _: _ZERO_TIME,
    "intstr.IntOrString": _amount,
}

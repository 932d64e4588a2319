"""Conversions, sizes and the tests of strings (common/stdlib)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.operators import timestamp
from scheduler_core.schedulers.v1_37.cel.functions.table import (
    FunctionDecl,
    Library,
    Overload,
    library,
    merged,
    row,
)
from scheduler_core.schedulers.v1_37.cel.functions.times import (
    parse_duration,
    parse_timestamp,
    show_timestamp,
)
from scheduler_core.schedulers.v1_37.cel.values import (
    NO_OVERLOAD,
    CelMap,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    go_float,
    is_int,
    is_uint,
    plain,
    type_name,
)

_DECIMAL = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT = re.compile(
    r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity)|nan", re.ASCII | re.IGNORECASE
)
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d{1,5}", re.ASCII
)
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def _refusal(value: Any, kind: str) -> CelError:
    return CelError(f"type conversion error from '{type_name(value)}' to '{kind}'")


def _to_int(value: Any) -> int:
    if isinstance(value, str):
        if not _DECIMAL.fullmatch(value) or len(value) > 64 or not is_int(int(value)):
            raise _refusal(value, "int")
        return int(value)
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, Duration):
        return value.nanoseconds
    if isinstance(value, Timestamp):
        return value.nanoseconds // 10**9
    if not is_int(value):
        raise CelError("integer overflow")
    return int(value)


def _to_uint(value: Any) -> UInt:
    if isinstance(value, str):
        if not re.fullmatch(r"\d{1,64}", value, re.ASCII) or not is_uint(int(value)):
            raise _refusal(value, "uint")
        return UInt(value)
    if isinstance(value, float) and not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    if not isinstance(value, float) and not is_uint(value):
        raise CelError("unsigned integer overflow")
    return UInt(value)


def _to_double(value: Any) -> float:
    if not isinstance(value, str):
        return float(value)
    out = None
    if len(value) <= 400 and _HEXADECIMAL.fullmatch(value):
        out = float.fromhex(value)
    elif len(value) <= 400 and _FLOAT.fullmatch(value):
        out = float(value)
    if out is None or (math.isinf(out) and value[-1].isdigit()):
        raise _refusal(value, "double")
    return out


def _to_bool(value: str) -> bool:
    if value not in _TRUE and value not in _FALSE:
        raise _refusal(value, "bool")
    return value in _TRUE


def to_string(value: Any) -> str:
    """Convert a value to a string, as string() does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, Duration):
        return plain(value.nanoseconds / 10**9) + "s"
    return show_timestamp(value) if isinstance(value, Timestamp) else str(value)


def _to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, int):
        return timestamp(value * 10**9)
    found = parse_timestamp(value)
    if found is None:
        raise _refusal(value, "google.protobuf.Timestamp")
    return timestamp(found.nanoseconds, found.offset)


def _to_duration(value: str) -> Duration:
    found = parse_duration(value)
    if found is None:
        raise _refusal(value, "google.protobuf.Duration")
    return found


def _same(value: Any) -> Any:
    return value


def _size(value: Any) -> int:
    return len(value)


def _tests(name: str) -> Callable[[Any, Any], bool]:
    def run(text: Any, part: Any) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise CelError(NO_OVERLOAD)
        return part in text if name == "contains" else bool(getattr(text, name)(part))

    return run


_ID_NAMES = {"int": "int64", "uint": "uint64"}
_CONVERSIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bool": ("string", _to_bool),
    "bytes": ("string", lambda value: value.encode("utf-8", "surrogatepass")),
    "double": ("int string uint", _to_double),
    "duration": ("string", _to_duration),
    "int": ("double duration string timestamp uint", _to_int),
    "string": ("bool bytes double duration int timestamp uint", to_string),
    "timestamp": ("int string", _to_timestamp),
    "uint": ("double int string", _to_uint),
}


def _conversion_rows() -> list[Overload]:
    out = []
    for kind, (sources, run) in _CONVERSIONS.items():
        for source in (kind, *sources.split()):
            id_ = f"{_ID_NAMES.get(source, source)}_to_{_ID_NAMES.get(kind, kind)}"
            out.append(row(id_, f"{kind}({source}) -> {kind}", _same if source == kind else run))
    return out


def _size_rows() -> list[Overload]:
    out = []
    for kind in ("bytes", "list(A)", "map(A, B)", "string"):
        short = kind.partition("(")[0]
        out += [row(f"size_{short}", f"size({kind}) -> int"), row(f"{short}_size", f"{kind}.size() -> int")]
    return out


CONVERSIONS = frozenset({*_CONVERSIONS, "dyn", "type"})
"""Functions that are evaluated when compiled, if their argument is constant."""

LIBRARY: Library = merged(
    library(_conversion_rows()),
    {
        "dyn": FunctionDecl("dyn", [row("to_dyn", "dyn(A) -> dyn")], _same),
        "type": FunctionDecl(
            "type", [row("type", "type(A) -> type(A)")], lambda value: TypeValue(type_name(value))
        ),
        "size": FunctionDecl(
            "size", _size_rows(), _size, lambda value: isinstance(value, str | bytes | list | CelMap)
        ),
    },
    library(
        [
            row("contains_string", "string.contains(string) -> bool", _tests("contains")),
            row("ends_with_string", "string.endsWith(string) -> bool", _tests("endswith")),
            row("starts_with_string", "string.startsWith(string) -> bool", _tests("startswith")),
        ],
        guarded=False,
    ),
)

"""Device selectors: their environment, and what they answer (dynamic-resource-allocation/cel/compile.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_core.schedulers.v1_37.cel.checker import Declarations, check
from scheduler_core.schedulers.v1_37.cel.errors import (
    CelError,
    CompileError,
    CostExceededError,
    InternalError,
    Issues,
    UnsupportedError,
)
from scheduler_core.schedulers.v1_37.cel.evaluator import Program, make_program
from scheduler_core.schedulers.v1_37.cel.functions import (
    authorization,
    formats,
    lists,
    network,
    operators,
    optionals,
    quantities,
    regex,
    standard,
    strings,
    times,
    urls,
)
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, merged
from scheduler_core.schedulers.v1_37.cel.nodes import Expr
from scheduler_core.schedulers.v1_37.cel.parser import parse
from scheduler_core.schedulers.v1_37.cel.types import (
    ANY,
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NULL,
    QUANTITY,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from scheduler_core.schedulers.v1_37.cel.validators import runtime_name, validate
from scheduler_core.schedulers.v1_37.cel.values import CelMap, TypeValue, type_name

MAX_LENGTH = 10 * 1024
"""Bytes of an expression (resourceapi.CELSelectorExpressionMaxLength)."""

MAX_COST = 1_000_000
"""What an evaluation may cost, in fact and by estimate (resourceapi.CELSelectorExpressionMaxCost)."""

_LIBRARIES = (
    operators, standard, times, strings, lists, optionals, quantities, network, urls, formats, regex,
    authorization,
)  # fmt: skip
FUNCTIONS = merged(*(each.LIBRARY for each in _LIBRARIES))
_ATTRIBUTES = "kubernetes.DRADevice"
_TYPES = {
    "bool": BOOL, "bytes": BYTES, "double": DOUBLE, "int": INT, "string": STRING, "uint": UINT,
    "null_type": NULL, "list": list_of(DYN), "map": map_of(DYN, DYN), "type": type_of(DYN),
    "google.protobuf.Duration": DURATION, "google.protobuf.Timestamp": TIMESTAMP,
    "optional_type": optional_of(DYN), "net.IP": IP, "net.CIDR": CIDR,
}  # fmt: skip


def _environment(attribute: Type, functions: Library) -> Declarations:
    fields = {
        "driver": STRING,
        "allowMultipleAllocations": BOOL,
        "attributes": map_of(STRING, map_of(STRING, attribute)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    }
    names = {name: (kind, TypeValue(name)) for name, kind in _TYPES.items()}
    return Declarations(functions, {"device": Type("struct", _ATTRIBUTES)}, {_ATTRIBUTES: fields}, names)


_SINCE_1_37 = ("includes",)
STORED = _environment(DYN, FUNCTIONS)
"""What is evaluated: attributes may be lists."""

NEW = _environment(ANY, {name: each for name, each in FUNCTIONS.items() if name not in _SINCE_1_37})
"""What the API server accepts in new objects: what v1.36 knows too, so that one can go back to it."""


@dataclass(frozen=True)
class CompiledSelector:
    """A selector that can be evaluated."""

    program: Program

    def evaluate(self, device: CelMap, limit: int = MAX_COST) -> tuple[bool | CelError, int]:
        """Return whether a device is selected, or why that is unknown; and what the evaluation cost."""
        try:
            value, cost = self.program.run({"device": device}, limit)
        except CostExceededError as error:
            return CelError(str(error)), limit
        except InternalError as error:
            return CelError(str(error)), 0
        except RecursionError:
            return CelError("the expression is nested too deeply to be evaluated"), 0
        return (value if isinstance(value, bool | CelError) else _not_a_bool(value)), cost


_CONVERSIONS = {
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "string": "unsupported native conversion from string to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
}


def _not_a_bool(value: Any) -> CelError:
    name = type_name(value)
    reason = _CONVERSIONS.get(name, f"type conversion error from '{name}' to 'bool'")
    return CelError(f"CEL result of type {name} could not be converted to bool: {reason}")


@lru_cache(maxsize=1024)
def compile_selector(text: str) -> CompiledSelector:
    """Compile a selector as the scheduler does. Raises CompileError."""
    return CompiledSelector(make_program(checked(text, STORED), FUNCTIONS))


def checked(text: str, environment: Declarations) -> Expr:
    """Parse an expression and find its types. Raises CompileError."""
    try:
        root = parse(text)
        issues = Issues(text)
        check(root, environment, issues)
        issues.raise_any()
        validate(root, environment.functions, issues)
        issues.raise_any()
    except RecursionError:
        raise UnsupportedError("expressions nested as deeply as this one are not supported") from None
    if root.type not in (BOOL, _attribute(environment)):
        raise CompileError(f"must evaluate to bool or the unknown type, not {_shown_type(root.type)}")
    return root


def _attribute(environment: Declarations) -> Type:
    return environment.fields[_ATTRIBUTES]["attributes"].parameters[1].parameters[1]


def _shown_type(kind: Type) -> str:
    """Return a type as Go's String() writes it."""
    inner = f"({', '.join(map(_shown_type, kind.parameters))})" if kind.parameters else ""
    return runtime_name(kind) + inner


def device_variable(
    driver: str,
    attributes: Mapping[str, Any],
    capacity: Mapping[str, Any],
    *,
    allow_multiple_allocations: bool = False,
) -> CelMap:
    """Return a device as selectors see it: attributes and capacities by their full names, values of CEL.

    Names without a domain are the driver's. A domain without any is an empty map.
    """
    return CelMap(
        [
            ("driver", driver),
            ("allowMultipleAllocations", allow_multiple_allocations),
            ("attributes", _by_domain(attributes, driver)),
            ("capacity", _by_domain(capacity, driver)),
        ]
    )


def _by_domain(entries: Mapping[str, Any], driver: str) -> CelMap:
    domains: dict[str, list[tuple[str, Any]]] = {}
    for name, value in entries.items():
        domain, slash, short = name.partition("/")
        domains.setdefault(domain if slash else driver, []).append((short if slash else name, value))
    return CelMap(((domain, CelMap(found)) for domain, found in domains.items()), missing=CelMap())

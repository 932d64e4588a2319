"""The greatest cost that a selector could have, by which the API server refuses it (checker.Cost)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from scheduler_core.schedulers.v1_37.cel.call_estimates import Estimate, Operand, Path, estimate_call
from scheduler_core.schedulers.v1_37.cel.costs import LIST, MAP
from scheduler_core.schedulers.v1_37.cel.errors import CompileError, UnsupportedError
from scheduler_core.schedulers.v1_37.cel.evaluator import make_program
from scheduler_core.schedulers.v1_37.cel.macros import ACCUMULATOR
from scheduler_core.schedulers.v1_37.cel.nodes import (
    CallExpr,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
)
from scheduler_core.schedulers.v1_37.cel.selectors import (
    FUNCTIONS,
    MAX_COST,
    MAX_LENGTH,
    NEW,
    checked,
    compile_selector,
)
from scheduler_core.schedulers.v1_37.cel.sizes import UNKNOWN, ElementSizes, Size, fixed, plus, times
from scheduler_core.schedulers.v1_37.cel.types import Type

_SCALARS = ("bool", "double", "duration", "int", "timestamp", "uint")
_DOMAIN, _ID, _DRIVER, _VALUE, _NAMES = 63, 32, 63, 64, 32
"""Most characters of a domain, an identifier, a driver and an attribute, and most names of a device."""

_QUANTITY = 2**63 - 1


@dataclass(frozen=True)
class _Declared:
    """A type of the device: its greatest size, and the types of what is in it."""

    size: int
    keys: _Declared | None = None
    values: _Declared | None = None
    fields: Mapping[str, _Declared] | None = None


_ATTRIBUTE = _Declared(_VALUE)
_DEVICE = _Declared(
    0,
    fields={
        "driver": _Declared(_DRIVER),
        "allowMultipleAllocations": _Declared(1),
        "attributes": _Declared(_NAMES, _Declared(_DOMAIN), _Declared(_NAMES, _Declared(_ID), _ATTRIBUTE)),
        "capacity": _Declared(
            _NAMES, _Declared(_DOMAIN), _Declared(_NAMES, _Declared(_ID), _Declared(_QUANTITY))
        ),
    },
)


def _declared(path: Path | None) -> Size | None:
    """Return the size of what a path leads to (sizeEstimator.EstimateSize)."""
    if not path or path[0] != "device":
        return None
    found: _Declared | None = _DEVICE
    for name in path[1:]:
        if found is None:
            return None
        if name in ("@items", "@values"):
            found = found.values
        elif name == "@keys":
            found = found.keys
        elif found.values is _ATTRIBUTE:
            found = _ATTRIBUTE
        else:
            found = (found.fields or {}).get(name)
    return Size(0, found.size) if found is not None else None


@lru_cache(maxsize=1024)
def refusal_of(text: str) -> str:
    """Return why the API server refuses an expression in a new object, or nothing."""
    if len(text.encode()) > MAX_LENGTH:
        return f"may not be more than {MAX_LENGTH} bytes"
    try:
        root = checked(text, NEW)
        make_program(root, FUNCTIONS)
    except UnsupportedError:
        return ""
    except CompileError as error:
        return str(error)
    return "too complex, exceeds cost limit" if most_expensive(root) > MAX_COST else ""


def limitation_of(text: str) -> str:
    """Return why an expression that the API server may accept cannot be evaluated here, or nothing."""
    try:
        compile_selector(text)
    except UnsupportedError as error:
        return str(error)
    except CompileError:
        return ""
    return ""


def most_expensive(root: Expr) -> int:
    """Return the greatest cost of a checked expression."""
    return _Coster().cost(root)


@dataclass
class _Local:
    path: Path
    size: Size | None
    entry: ElementSizes | None = None


class _Coster:
    def __init__(self) -> None:
        self.paths: dict[int, Path] = {}
        self.sizes: dict[int, Size] = {}
        self.entries: dict[int, ElementSizes] = {}
        self.locals: dict[str, list[_Local]] = {}

    def local(self, name: str) -> _Local | None:
        found = self.locals.get(name)
        return found[-1] if found else None

    def path(self, node: Expr) -> Path:
        if isinstance(node, Ident) and (local := self.local(node.name)):
            return local.path
        return self.paths.get(id(node), ())

    def size(self, node: Expr) -> Size | None:
        """Return the size of a value, as far as it is known (computeSize)."""
        found = self.sizes.get(id(node)) or _literal_size(node)
        if found is not None:
            return found
        declared = _declared(self.path(node))
        if declared is not None:
            self.sizes[id(node)] = declared
            return declared
        if _is_scalar(node.type):
            return fixed(1)
        local = self.local(node.name) if isinstance(node, Ident) else None
        return local.size if local else None

    def entry(self, node: Expr) -> ElementSizes | None:
        found = self.entries.get(id(node))
        if found is None and isinstance(node, Ident) and (local := self.local(node.name)):
            return local.entry
        return found

    def cost(self, node: Expr) -> int:
        match node:
            case Ident():
                local = self.local(node.name)
                self.paths[id(node)] = local.path if local else (node.name,)
                return 1
            case Select():
                return self._select(node)
            case CallExpr():
                return self._call(node)
            case ListExpr():
                return self._list(node)
            case MapExpr():
                return self._map(node)
            case Fold():
                return self._binding(node) if node.is_binding else self._fold(node)
            case _:
                return 0

    def _select(self, node: Select) -> int:
        if node.constant is not None:
            return 1
        cost = self.cost(node.operand)
        if node.test:
            return cost
        cost = plus(cost, 1 if node.operand.type.kind in ("map", "struct", "param") else 0)
        self.paths[id(node)] = (*self.path(node.operand), node.name)
        return cost

    def _operand(self, node: Expr) -> Operand:
        path = self.path(node)
        known = None if path and path[0] in (ACCUMULATOR, "__result__") else path
        return Operand(known, node.type, node, self.size(node), _declared)

    def _call(self, node: CallExpr) -> int:
        if node.function == "dyn":
            cost = plus(1, self.cost(node.arguments[0]))
            self._copy(node, node.arguments[0])
            return cost
        costs, arguments = [], []
        for argument in node.arguments:
            costs.append(self.cost(argument))
            arguments.append(self._operand(argument))
        target, total = None, 0
        if node.target is not None:
            total = self.cost(node.target)
            target = self._operand(node.target)
        most, result = 0, None
        for overload in node.overloads:
            found = self._overload(node, overload, target, arguments, costs)
            most = max(most, found.cost)
            if found.result is not None:
                result = found.result if result is None else result.union(found.result)
            result = self._indexed(node, overload, result)
        if result is not None:
            self.sizes[id(node)] = result
        return plus(total, most)

    def _indexed(self, node: CallExpr, overload: str, result: Size | None) -> Size | None:
        place = {"index_list": "@items", "index_map": "@values"}.get(overload)
        if place:
            entry = self.entry(node.arguments[0])
            result = entry.value if entry else None
            self.paths[id(node)] = (*self.path(node.arguments[0]), place)
        return result if result is not None else self.size(node)

    def _overload(
        self,
        node: CallExpr,
        overload: str,
        target: Operand | None,
        arguments: list[Operand],
        costs: list[int],
    ) -> Estimate:
        """Return the estimate with that of the arguments (functionCost)."""
        if overload == "conditional":
            return self._conditional(node, arguments, costs)
        if overload == "add_list" or overload in ("add_string", "add_bytes"):
            left, right = (self.entry(argument) for argument in node.arguments)
            joined = left.union(right) if left else None
            if joined is not None:
                self.entries[id(node)] = joined
        total = 0
        for cost in costs:
            total = plus(total, cost)
        if overload in ("logical_and", "logical_or"):
            return Estimate(total)
        found = estimate_call(node.function, overload, target, arguments)
        return Estimate(plus(found.cost, total), found.result)

    def _conditional(self, node: CallExpr, arguments: list[Operand], costs: list[int]) -> Estimate:
        yes, no = (self.entry(argument) for argument in node.arguments[1:])
        joined = yes.union(no) if yes else None
        if joined is not None:
            self.entries[id(node)] = joined
        size = arguments[1].shown.union(arguments[2].shown)
        return Estimate(plus(costs[0], max(costs[1:])), size)

    def _list(self, node: ListExpr) -> int:
        cost, size = 0, None
        for element in node.elements:
            cost = plus(cost, self.cost(element))
            found = self.size(element) or UNKNOWN
            size = found if size is None else size.union(found)
        self.entries[id(node)] = ElementSizes("list", fixed(1), size or fixed(0))
        return plus(cost, LIST)

    def _map(self, node: MapExpr) -> int:
        cost, keys, values = 0, None, None
        for entry in node.entries:
            cost = plus(plus(cost, self.cost(entry.key)), self.cost(entry.value))
            key, value = self.size(entry.key) or UNKNOWN, self.size(entry.value) or UNKNOWN
            keys = key if keys is None else keys.union(key)
            values = value if values is None else values.union(value)
        self.entries[id(node)] = ElementSizes("map", keys or fixed(0), values or fixed(0))
        return plus(cost, MAP)

    def _push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def _push_elements(self, node: Fold) -> None:
        """Declare the variables of a comprehension."""
        entry, path = self.entry(node.over), self.path(node.over)
        kind = entry.kind if entry else node.over.type.kind
        key, value = (entry.key, entry.value) if entry else (None, None)
        places = ("@indices", "@items") if kind == "list" else ("@keys", "@values")
        if node.second:
            self._push(node.variable, _Local((*path, places[0]), key))
            self._push(node.second, _Local((*path, places[1]), value))
        elif kind == "list":
            self._push(node.variable, _Local((*path, "@items"), value))
        else:
            self._push(node.variable, _Local((*path, "@keys"), key))

    def _fold(self, node: Fold) -> int:
        total = plus(self.cost(node.over), self.cost(node.start))
        start = _Local(self.path(node.start), self.size(node.start), self.entry(node.start))
        self._push(node.accumulator, start)
        self._push_elements(node)
        each = plus(self.cost(node.condition), self.cost(node.step))
        for name in filter(None, (node.variable, node.second)):
            self.locals[name].pop()
        total = plus(total, self.cost(node.result))
        self.locals[node.accumulator].pop()
        count = self.size(node.over) or UNKNOWN
        self._measure(node, count)
        return plus(total, times(count.high, each))

    def _measure(self, node: Fold, count: Size) -> None:
        """Keep the size of what a comprehension makes."""
        if isinstance(node.start, Literal):
            self.sizes[id(node)] = self.size(node.start) or UNKNOWN
        elif isinstance(node.start, ListExpr | MapExpr):
            self.sizes[id(node)] = count
            entry = self.entry(node.step)
            if entry is not None:
                self.entries[id(node)] = entry

    def _binding(self, node: Fold) -> int:
        total = plus(self.cost(node.over), self.cost(node.start))
        self._push(
            node.accumulator, _Local(self.path(node.start), self.size(node.start), self.entry(node.start))
        )
        total = plus(total, self.cost(node.result))
        self.locals[node.accumulator].pop()
        self._copy(node, node.result)
        return total

    def _copy(self, node: Expr, source: Expr) -> None:
        size, entry = self.size(source), self.entry(source)
        if size is not None:
            self.sizes[id(node)] = size
        if entry is not None:
            self.entries[id(node)] = entry


def _literal_size(node: Expr) -> Size | None:
    if isinstance(node, Literal):
        return fixed(len(node.value) if isinstance(node.value, str | bytes) else 1)
    if isinstance(node, ListExpr):
        return fixed(len(node.elements))
    return fixed(len(node.entries)) if isinstance(node, MapExpr) else None


def _is_scalar(kind: Type) -> bool:
    return kind.kind in _SCALARS or (kind.is_optional and _is_scalar(kind.parameters[0]))

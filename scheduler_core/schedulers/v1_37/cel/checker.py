"""Types of an expression, by the declarations of an environment (cel-go's checker)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from scheduler_core.schedulers.v1_37.cel.errors import Issues, UnsupportedError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, Overload
from scheduler_core.schedulers.v1_37.cel.nodes import (
    CallExpr,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Message,
    Select,
)
from scheduler_core.schedulers.v1_37.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from scheduler_core.schedulers.v1_37.cel.unify import Bindings, most_general
from scheduler_core.schedulers.v1_37.cel.values import TypeValue, UInt

_LITERALS: Mapping[type, Type] = {
    bool: BOOL, int: INT, UInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL,
}  # fmt: skip


@dataclass(frozen=True)
class Declarations:
    """What an expression can name: functions, variables, fields of structs, and types."""

    functions: Library
    variables: Mapping[str, Type]
    fields: Mapping[str, Mapping[str, Type]]
    type_names: Mapping[str, tuple[Type, TypeValue]]


def check(root: Expr, environment: Declarations, issues: Issues) -> None:
    """Set the type of each node and the overloads of each call; report what does not fit."""
    checker = _Checker(environment, issues)
    checker.check(root)
    checker.settle(root)


class _Checker:
    def __init__(self, environment: Declarations, issues: Issues) -> None:
        self.environment = environment
        self.issues = issues
        self.bindings = Bindings()
        self.scopes: list[dict[str, Type]] = [dict(environment.variables)]
        self.fresh = count()
        self._seen: list[Expr] = []

    def settle(self, root: Expr) -> None:
        """Replace type parameters by what they have become."""
        del root
        for node in self._seen:
            node.type = self.bindings.resolved(node.type)

    def check(self, node: Expr) -> Type:
        self._seen.append(node)
        match node:
            case Literal():
                node.type = _LITERALS[type(node.value)]
            case Ident():
                node.type = self.ident(node)
            case Select():
                node.type = self.select(node)
            case CallExpr():
                node.type = self.call(node)
            case ListExpr():
                node.type = self.list(node)
            case MapExpr():
                node.type = self.map(node)
            case Fold():
                node.type = self.fold(node)
            case Message():
                node.type = self.message(node)
        return node.type

    def variable(self, name: str) -> Type | None:
        if name.startswith("."):
            return self.environment.variables.get(name[1:])
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def ident(self, node: Ident) -> Type:
        found = self.variable(node.name)
        if found is not None:
            return found
        named = self.environment.type_names.get(node.name.removeprefix("."))
        if named is None:
            return self.undeclared(node.place, node.name)
        node.constant = named[1]
        return type_of(named[0])

    def undeclared(self, place: int, name: str) -> Type:
        self.issues.report(place, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    def select(self, node: Select) -> Type:
        name = "" if node.test else _qualified(node)
        named = self.environment.type_names.get(name) if name else None
        if named is not None and self.variable(name.partition(".")[0]) is None:
            node.constant = named[1]
            return type_of(named[0])
        found = self.field(node.place, node.operand, node.name, optional=False)
        return BOOL if node.test else self.bindings.substitute(found)

    def field(self, place: int, operand: Expr, name: str, *, optional: bool) -> Type:
        """Return the type of a field, optional if its owner or the access is."""
        owner = self.bindings.substitute(self.check(operand))
        optional = optional or owner.is_optional
        owner = owner.parameters[0] if owner.is_optional else owner
        result = self._field_of(owner, place, name)
        return optional_of(result) if optional else result

    def _field_of(self, owner: Type, place: int, name: str) -> Type:
        if owner.kind == "map":
            return owner.parameters[1]
        if owner.kind == "struct":
            fields = self.environment.fields.get(owner.name)
            found = (fields or {}).get(name)
            if fields is None:
                self.issues.report(place, f"unexpected failed resolution of '{owner.name}'")
            elif found is None:
                self.issues.report(place, f"undefined field '{name}'")
            return found or ERROR
        if owner.kind == "param":
            self.bindings.admits([DYN], [owner])
        elif not owner.is_dynamic and owner.kind != "error":
            self.issues.report(place, f"type '{owner}' does not support field selection")
        return DYN

    def call(self, node: CallExpr) -> Type:
        if node.function == "_?._":
            field = node.arguments[1]
            assert isinstance(field, Literal)
            self.check(field)
            found = self.field(node.place, node.arguments[0], field.value, optional=True)
            node.overloads = ["select_optional_field"]
            return self.bindings.substitute(found)
        for argument in node.arguments:
            self.check(argument)
        functions = self.environment.functions
        if node.target is not None:
            prefix = _qualified(node.target)
            if prefix and f"{prefix}.{node.function}" in functions:
                node.target, node.function = None, f"{prefix}.{node.function}"
            else:
                self.check(node.target)
        name = node.function if node.target is not None else node.function.removeprefix(".")
        if name not in functions:
            return self.undeclared(node.place, node.function)
        node.function = name
        return self.resolve(node, functions[name].overloads)

    def resolve(self, node: CallExpr, overloads: list[Overload]) -> Type:
        """Find the overloads that the arguments fit; return their type, dynamic if they differ."""
        given = [operand.type for operand in node.operands]
        if node.function in ("_&&_", "_||_"):
            return self._logic(node, overloads[0])
        node.overloads, result = [], None
        for overload in overloads:
            if overload.is_member is (node.target is None):
                continue
            wanted, answer = self._instance(overload)
            if self.bindings.admits(given, wanted):
                node.overloads.append(overload.id)
                answer = self.bindings.substitute(answer)
                if result is None:
                    result = answer
                elif not result.is_dynamic and answer != result:
                    result = DYN
        return result or self._no_overload(node, given)

    def _logic(self, node: CallExpr, overload: Overload) -> Type:
        node.overloads = [overload.id]
        for argument in node.arguments:
            if not self.bindings.admits([argument.type], [BOOL]):
                self.issues.report(argument.place, f"expected type 'bool' but found '{argument.type}'")
                node.type = ERROR
        return BOOL

    def _instance(self, overload: Overload) -> tuple[list[Type], Type]:
        """Return a signature with parameters of its own."""
        parameters = _parameters(overload)
        if not parameters:
            return list(overload.arguments), overload.result
        own = Bindings({one: self.parameter() for one in parameters})
        return [own.substitute(one) for one in overload.arguments], own.substitute(overload.result)

    def parameter(self) -> Type:
        return Type("param", f"_var{next(self.fresh)}")

    def _no_overload(self, node: CallExpr, given: list[Type]) -> Type:
        shown = [str(self.bindings.resolved(one)) for one in given]
        target = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        self.issues.report(
            node.place, f"found no matching overload for '{node.function}' applied to '{signature}'"
        )
        return ERROR

    def list(self, node: ListExpr) -> Type:
        joined = None
        for index, element in enumerate(node.elements):
            found = self.check(element)
            if index in node.optional:
                found = self._unwrapped(element, found)
            joined = self._join(joined, found)
        return list_of(joined or self.parameter())

    def _unwrapped(self, node: Expr, found: Type) -> Type:
        if found.is_optional:
            return found.parameters[0]
        if not found.is_dynamic:
            self.issues.report(node.place, f"expected type '{optional_of(found)}' but found '{found}'")
        return found

    def _join(self, joined: Type | None, found: Type) -> Type:
        if joined is None:
            return found
        return most_general(joined, found) if self.bindings.admits([joined], [found]) else DYN

    def map(self, node: MapExpr) -> Type:
        keys = values = None
        for entry in node.entries:
            keys = self._join(keys, self.check(entry.key))
            found = self.check(entry.value)
            found = self._unwrapped(entry.value, found) if entry.optional else found
            values = self._join(values, found)
        return map_of(keys or self.parameter(), values or self.parameter())

    def fold(self, node: Fold) -> Type:
        over = self.bindings.substitute(self.check(node.over))
        accumulated = self.check(node.start)
        first, second = self._elements(node, over)
        self.scopes.append({node.accumulator: accumulated})
        self.scopes.append({node.variable: first, **({node.second: second} if node.second else {})})
        self._assert(node.condition, BOOL)
        self._assert(node.step, accumulated)
        self.scopes.pop()
        result = self.check(node.result)
        self.scopes.pop()
        return self.bindings.substitute(result)

    def _elements(self, node: Fold, over: Type) -> tuple[Type, Type]:
        """Return the types of the variables of a comprehension."""
        if over.kind == "list":
            element = over.parameters[0]
            return (INT, element) if node.second else (element, ERROR)
        if over.kind == "map":
            return over.parameters[0], over.parameters[1]
        if (over.is_dynamic and over.kind == "dyn") or over.kind in ("error", "param"):
            self.bindings.admits([DYN], [over])
            return DYN, DYN
        self.issues.report(
            node.over.place,
            f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)",
        )
        return ERROR, ERROR

    def _assert(self, node: Expr, wanted: Type) -> None:
        found = self.check(node)
        if not self.bindings.admits([wanted], [found]):
            self.issues.report(node.place, f"expected type '{wanted}' but found '{found}'")

    def message(self, node: Message) -> Type:
        if node.name.removeprefix(".").startswith(("google.protobuf.", "google.api.expr.")):
            raise UnsupportedError(f"messages of protocol buffers ({node.name}) are not supported")
        return self.undeclared(node.place, node.name)


@lru_cache(maxsize=1024)
def _parameters(overload: Overload) -> frozenset[Type]:
    found: set[Type] = set()
    waiting = [*overload.arguments, overload.result]
    while waiting:
        kind = waiting.pop()
        if kind.kind == "param":
            found.add(kind)
        waiting += kind.parameters
    return frozenset(found)


def _qualified(node: Expr) -> str:
    """Return the dotted name that an expression could be, or nothing."""
    match node:
        case Ident():
            return node.name
        case Select(test=False):
            prefix = _qualified(node.operand)
            return f"{prefix}.{node.name}" if prefix else ""
        case _:
            return ""

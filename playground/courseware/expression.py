"""Expressions on facts, such as ``outcome("web-3").node == "n2"``: a small subset of Python's, and hostile.

Nothing is executed by Python: the tree of :mod:`ast` is walked, and every node that is not listed here is
refused. Length, nodes and depth of an expression, and the size of its numbers and texts, are bounded.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Self

from msgspec import Struct

from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.quantity import format_resource

LONGEST = 600  # characters
MOST_NODES = 150
DEEPEST = 16
LARGEST = 10**15  # of a number
MOST_ITEMS = 2_000  # of a list, and characters of a text


class FactError(ValueError):
    """An expression cannot be read or computed; the text says what would be right."""


class NotYetKnownError(FactError):
    """A fact that the moment of the stop does not show yet."""


class Record(Struct, frozen=True):
    """A fact with fields; expressions may read these, and nothing else of it."""


class NotShown(Enum):
    """The value of a field that the moment of the stop does not show yet."""

    NOT_SHOWN = "unknown"


NOT_SHOWN: Final = NotShown.NOT_SHOWN
MIB = 2**20
IN_MIB = ("memory", "ephemeral-storage")


class ResourceAmount(int):
    """An amount of a resource, in millicores, MiB or its own unit; shown as Kubernetes writes it."""

    resource: str

    def __new__(cls, amount: int, resource: str) -> Self:
        """Return the number with the resource that it is of."""
        made = super().__new__(cls, amount)
        made.resource = resource
        return made

    def __add__(self, other: int) -> int:
        """Add another amount of the same resource, or a plain number."""
        return self._like(int(self) + int(other), other)

    def __sub__(self, other: int) -> int:
        """Subtract another amount of the same resource, or a plain number."""
        return self._like(int(self) - int(other), other)

    def _like(self, number: int, other: int) -> int:
        alike = isinstance(other, ResourceAmount) and other.resource == self.resource
        return ResourceAmount(number, self.resource) if alike else number

    def __str__(self) -> str:
        """Return Kubernetes' notation: ``250m``, ``1536Mi``."""
        return format_resource(self.resource, int(self) * MIB if self.resource in IN_MIB else int(self))


_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
_COMPUTED: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Call, ast.keyword, ast.Attribute, ast.Compare,
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Subscript, ast.List,
    ast.IfExp, *_COMPARED, *_COMPUTED,
)  # fmt: skip


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """Return the tree of an expression of the subset. Raises FactError."""
    if len(text) > LONGEST:
        raise FactError(f"an expression has at most {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise FactError(
            f'{text.strip()[:80]!r} is not an expression, such as outcome("web").node == "n1"'
        ) from None
    nodes = list(ast.walk(tree))
    if len(nodes) > MOST_NODES or _depth(tree) > DEEPEST:
        raise FactError(f"an expression has at most {MOST_NODES} parts, nested {DEEPEST} deep")
    for node in nodes:
        if not isinstance(node, _NODES):
            raise FactError(f"{type(node).__name__} is not part of the language of facts")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (str, int, float, bool, type(None))):
            raise FactError("a constant is a text, a number, True or False")
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
            raise FactError('a fact is called by its name, such as cycle("1.1")')
    return tree.body


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def called(text: str) -> tuple[str, ...]:
    """Return the names of the facts that an expression calls. Raises FactError."""
    return tuple(
        node.func.id
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )


def evaluate(text: str, facts: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]) -> Any:
    """Compute an expression from facts, and from the values of ``names``. Raises FactError."""
    return _Evaluation(facts, names).of(parsed(text))


class _Evaluation:
    def __init__(self, facts: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]) -> None:
        self.facts, self.names = facts, names

    def of(self, node: ast.expr) -> Any:
        """Return the value of a part."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._named(node.id)
            case ast.Call(func=ast.Name()):
                return self._call(node)
            case ast.Attribute():
                return _field(self.of(node.value), node.attr)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._joined(node)
            case ast.UnaryOp():
                value = self.of(node.operand)
                return not value if isinstance(node.op, ast.Not) else -_number(value)
            case ast.BinOp():
                return self._computed(node)
            case ast.Subscript():
                return _item(self.of(node.value), self.of(node.slice))
            case ast.List():
                return [self.of(item) for item in node.elts]
            case ast.IfExp():
                return self.of(node.body) if self.of(node.test) else self.of(node.orelse)
        raise FactError(f"{type(node).__name__} is not part of the language of facts")

    def _named(self, name: str) -> Any:
        if name not in self.names:
            known = [*self.names, *self.facts]
            raise FactError(f"there is no {name!r}{did_you_mean(name, known)}: names stand in quotes")
        return self.names[name]

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        fact = self.facts.get(name)
        if fact is None:
            raise FactError(
                f"there is no fact {name!r}{did_you_mean(name, self.facts) or _listed(self.facts)}"
            )
        given = {word.arg: self.of(word.value) for word in node.keywords if word.arg}
        if len(given) < len(node.keywords):
            raise FactError(f"{name} takes no **")
        try:
            return bounded(fact(*[self.of(argument) for argument in node.args], **given))
        except (TypeError, AttributeError) as error:
            raise FactError(f"{name}: {error}") from None

    def _compare(self, node: ast.Compare) -> bool:
        left = self.of(node.left)
        for comparison, part in zip(node.ops, node.comparators):
            right = self.of(part)
            try:
                if not _COMPARED[type(comparison)](left, right):
                    return False
            except TypeError:
                raise FactError(f"{_kind(left)} and {_kind(right)} cannot be compared this way") from None
            left = right
        return True

    def _joined(self, node: ast.BoolOp) -> bool:
        values = (bool(self.of(value)) for value in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def _computed(self, node: ast.BinOp) -> Any:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
            return bounded(left + right)
        try:
            return bounded(_COMPUTED[type(node.op)](_number(left), _number(right)))
        except ZeroDivisionError:
            raise FactError("a division by zero") from None


def bounded(value: Any) -> Any:
    """Return a value of a bounded size. Raises FactError."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) <= LARGEST:
        raise FactError(f"a number is at most {LARGEST:,}")
    if isinstance(value, (str, list)) and len(value) > MOST_ITEMS:
        raise FactError(f"a list or text has at most {MOST_ITEMS:,} parts")
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FactError(f"{_kind(value)} is not a number")
    bounded(value)
    return value


def _field(value: Any, name: str) -> Any:
    fields = value.__struct_fields__ if isinstance(value, Record) else ()
    if name not in fields:
        has = f": it has {', '.join(fields)}" if fields else ""
        raise FactError(f"{_kind(value)} has no {name!r}{did_you_mean(name, fields) or has}")
    found = getattr(value, name)
    if found is NOT_SHOWN:
        raise NotYetKnownError(f"the cycle's {name} is not shown yet at this stop")
    return found


def _item(value: Any, index: Any) -> Any:
    if not isinstance(value, (list, str)) or isinstance(index, bool) or not isinstance(index, int):
        raise FactError("only a list has items, by number from 0")
    if not -len(value) <= index < len(value):
        raise FactError(f"there is no item {index} in a list of {len(value)}")
    return value[index]


def _kind(value: Any) -> str:
    if isinstance(value, Record):
        return "a fact with fields"
    kinds = ((bool, "yes or no"), ((int, float), "a number"), (str, "a text"), (list, "a list"))
    return next((kind for types, kind in kinds if isinstance(value, types)), "nothing")


def _listed(facts: Mapping[str, Any]) -> str:
    return f": the facts are {', '.join(facts)}"

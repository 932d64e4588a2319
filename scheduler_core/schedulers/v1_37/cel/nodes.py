"""The syntax tree. A place is an offset in the source, in characters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.schedulers.v1_37.cel.types import ERROR, Type


@dataclass(eq=False)
class Expr:
    """An expression, its position and what the checker found."""

    place: int
    type: Type = field(default=ERROR, init=False)


@dataclass(eq=False)
class Literal(Expr):
    """A constant."""

    value: Any


@dataclass(eq=False)
class Ident(Expr):
    """A name. ``constant`` is the type that it names, if it is not a variable."""

    name: str
    constant: Any = field(default=None, init=False)


@dataclass(eq=False)
class Select(Expr):
    """A field, or whether there is one."""

    operand: Expr
    name: str
    test: bool = False
    constant: Any = field(default=None, init=False)


@dataclass(eq=False)
class CallExpr(Expr):
    """A function or operator. ``overloads`` are those that the types of its arguments admit."""

    function: str
    arguments: list[Expr]
    target: Expr | None = None
    overloads: list[str] = field(default_factory=list, init=False)

    @property
    def operands(self) -> list[Expr]:
        """The target, if it is called on one, and the arguments."""
        return self.arguments if self.target is None else [self.target, *self.arguments]

    @property
    def overload(self) -> str:
        """The only overload, or nothing if that shows at run time."""
        return self.overloads[0] if len(self.overloads) == 1 else ""


@dataclass(eq=False)
class ListExpr(Expr):
    """A list; ``optional`` has the indexes of elements that may be left out."""

    elements: list[Expr]
    optional: frozenset[int] = frozenset()


@dataclass(eq=False)
class EntryExpr:
    """A key of a map literal with its value."""

    key: Expr
    value: Expr
    optional: bool


@dataclass(eq=False)
class MapExpr(Expr):
    """A map."""

    entries: list[EntryExpr]


@dataclass(eq=False)
class Message(Expr):
    """A protocol buffer message."""

    name: str


@dataclass(eq=False)
class Fold(Expr):
    """A comprehension: what all macros over lists and maps, and bindings, become."""

    over: Expr
    variable: str
    second: str
    accumulator: str
    start: Expr
    condition: Expr
    step: Expr
    result: Expr

    @property
    def is_binding(self) -> bool:
        """Whether it only gives a value a name (checker.coster.isBind)."""
        return (
            isinstance(self.over, ListExpr)
            and not self.over.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
            and self.accumulator != "__result__"
        )


def children(node: Expr) -> list[Expr]:
    """Return the nodes directly below one."""
    match node:
        case Select():
            return [node.operand]
        case CallExpr():
            return node.operands
        case ListExpr():
            return node.elements
        case MapExpr():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case Fold():
            return [node.over, node.start, node.condition, node.step, node.result]
        case _:
            return []

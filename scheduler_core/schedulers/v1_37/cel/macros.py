"""Macros: calls that become other expressions before types are checked."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from scheduler_core.schedulers.v1_37.cel.errors import UnsupportedError
from scheduler_core.schedulers.v1_37.cel.nodes import (
    CallExpr,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    children,
)

ACCUMULATOR = "@result"
"""What comprehensions accumulate in; no expression can name it."""

MAX_COPIED = 1000
"""Parts of an expression that a macro may repeat."""

_UNUSED = "#unused"
_VISIBLE = "__result__"
_SORTED = "@__sortBy_input__"


class MacroFault(Exception):  # noqa: N818 — "error" is what the Issues make of it
    """A macro that its arguments do not fit."""

    def __init__(self, node: Expr, message: str) -> None:
        super().__init__(message)
        self.place, self.message = node.place, message


Expander = Callable[[int, Expr, list[Expr]], "Expr | None"]


def expand(place: int, name: str, target: Expr | None, arguments: list[Expr]) -> Expr | None:
    """Return what a call becomes, or None if it is no macro. Raises MacroFault."""
    if target is None:
        return _has(place, arguments) if name == "has" and len(arguments) == 1 else None
    macro = _MACROS.get((name, len(arguments)))
    return macro(place, target, arguments) if macro else None


def _has(place: int, arguments: list[Expr]) -> Expr:
    argument = arguments[0]
    if not isinstance(argument, Select) or argument.test:
        raise MacroFault(argument, "invalid argument to has() macro")
    return Select(place, argument.operand, argument.name, test=True)


def _variable(node: Expr, complaint: str) -> str:
    if not isinstance(node, Ident):
        raise MacroFault(node, complaint)
    if node.name in (ACCUMULATOR, _VISIBLE):
        raise MacroFault(node, "iteration variable overwrites accumulator variable")
    return node.name


def _pair(arguments: list[Expr]) -> tuple[str, str]:
    complaint = "argument must be a simple name"
    for node in arguments[:2]:
        if not isinstance(node, Ident):
            raise MacroFault(node, complaint)
    one, other = (_variable(node, complaint) for node in arguments[:2])
    if one == other:
        raise MacroFault(arguments[1], f"duplicate variable name: {one}")
    return one, other


def _accumulated(place: int) -> Ident:
    return Ident(place, ACCUMULATOR)


def _fold(
    place: int, over: Expr, variables: tuple[str, str], start: Expr, condition: Expr, step: Expr
) -> Fold:
    return Fold(place, over, *variables, ACCUMULATOR, start, condition, step, _accumulated(place))


def _quantifier(variables: Callable[[list[Expr]], tuple[str, str]], *, of_all: bool) -> Expander:
    """Make ``all`` or ``exists``, which end where the answer is known."""

    def make(place: int, target: Expr, arguments: list[Expr]) -> Expr:
        goes_on: Expr = _accumulated(place)
        if not of_all:
            goes_on = CallExpr(place, "!_", [goes_on])
        step = CallExpr(place, "_&&_" if of_all else "_||_", [_accumulated(place), arguments[-1]])
        condition = CallExpr(place, "@not_strictly_false", [goes_on])
        return _fold(place, target, variables(arguments), Literal(place, of_all), condition, step)

    return make


def _exists_one(variables: Callable[[list[Expr]], tuple[str, str]]) -> Expander:
    def make(place: int, target: Expr, arguments: list[Expr]) -> Expr:
        more = CallExpr(place, "_+_", [_accumulated(place), Literal(place, 1)])
        step = CallExpr(place, "_?_:_", [arguments[-1], more, _accumulated(place)])
        fold = _fold(place, target, variables(arguments), Literal(place, 0), Literal(place, True), step)
        fold.result = CallExpr(place, "_==_", [_accumulated(place), Literal(place, 1)])
        return fold

    return make


def _collecting(
    place: int, target: Expr, variables: tuple[str, str], item: Expr, condition: Expr | None
) -> Expr:
    """Make what collects a list, of the elements for which the condition holds."""
    step = CallExpr(place, "_+_", [_accumulated(place), ListExpr(place, [item])])
    if condition is not None:
        step = CallExpr(place, "_?_:_", [condition, step, _accumulated(place)])
    return _fold(place, target, variables, ListExpr(place, []), Literal(place, True), step)


def _one(complaint: str) -> Callable[[list[Expr]], tuple[str, str]]:
    return lambda arguments: (_variable(arguments[0], complaint), "")


_NAME = _one("argument must be a simple name")
_IDENTIFIER = _one("argument is not an identifier")


def _map(place: int, target: Expr, arguments: list[Expr]) -> Expr:
    condition = arguments[1] if len(arguments) == 3 else None
    return _collecting(place, target, _IDENTIFIER(arguments), arguments[-1], condition)


def _filter(place: int, target: Expr, arguments: list[Expr]) -> Expr:
    return _collecting(place, target, _IDENTIFIER(arguments), arguments[0], arguments[1])


def _transform_list(place: int, target: Expr, arguments: list[Expr]) -> Expr:
    condition = arguments[2] if len(arguments) == 4 else None
    return _collecting(place, target, _pair(arguments), arguments[-1], condition)


def _transform_map(*, with_key: bool) -> Expander:
    def make(place: int, target: Expr, arguments: list[Expr]) -> Expr:
        variables = _pair(arguments)
        key: list[Expr] = [Ident(place, variables[0])] if with_key else []
        step = CallExpr(place, "cel.@mapInsert", [_accumulated(place), *key, arguments[-1]])
        if len(arguments) == 4:
            step = CallExpr(place, "_?_:_", [arguments[2], step, _accumulated(place)])
        return _fold(place, target, variables, MapExpr(place, []), Literal(place, True), step)

    return make


def _binding(place: int, name: str, value: Expr, result: Expr) -> Fold:
    return Fold(
        place,
        ListExpr(place, []),
        _UNUSED,
        "",
        name,
        value,
        Literal(place, False),
        Ident(place, name),
        result,
    )


def _bind(place: int, target: Expr, arguments: list[Expr]) -> Expr | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(arguments[0], Ident):
        raise MacroFault(arguments[0], "cel.bind() variable names must be simple identifiers")
    return _binding(place, arguments[0].name, arguments[1], arguments[2])


def _copied(node: Expr) -> Expr:
    """Return a copy. Raises UnsupportedError if that is large, as of optMap() of optMap() of optMap()."""
    waiting, count = [node], 0
    while waiting:
        waiting += children(waiting.pop())
        count += 1
        if count > MAX_COPIED:
            raise UnsupportedError(f"copies of more than {MAX_COPIED} parts by macros are not supported")
    return deepcopy(node)


def _optional_map(name: str, *, flat: bool) -> Expander:
    def make(place: int, target: Expr, arguments: list[Expr]) -> Expr:
        if not isinstance(arguments[0], Ident):
            raise MacroFault(arguments[0], f"{name}() variable name must be a simple identifier")
        value = CallExpr(place, "value", [], _copied(target))
        made: Expr = _binding(place, arguments[0].name, value, arguments[1])
        made = made if flat else CallExpr(place, "optional.of", [made])
        return CallExpr(
            place,
            "_?_:_",
            [CallExpr(place, "hasValue", [], target), made, CallExpr(place, "optional.none", [])],
        )

    return make


def _sort_by(place: int, target: Expr, arguments: list[Expr]) -> Expr:
    if not isinstance(target, ListExpr | Select | Ident | Fold | CallExpr):
        complaint = (
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        )
        raise MacroFault(target, complaint)
    keys = _map(place, Ident(place, _SORTED), arguments)
    return _binding(
        place, _SORTED, target, CallExpr(place, "@sortByAssociatedKeys", [keys], Ident(place, _SORTED))
    )


_MACROS: dict[tuple[str, int], Expander] = {
    ("all", 2): _quantifier(_NAME, of_all=True),
    ("exists", 2): _quantifier(_NAME, of_all=False),
    ("exists_one", 2): _exists_one(_NAME),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("all", 3): _quantifier(_pair, of_all=True),
    ("exists", 3): _quantifier(_pair, of_all=False),
    ("exists_one", 3): _exists_one(_pair),
    ("existsOne", 3): _exists_one(_pair),
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map(with_key=True),
    ("transformMap", 4): _transform_map(with_key=True),
    ("transformMapEntry", 3): _transform_map(with_key=False),
    ("transformMapEntry", 4): _transform_map(with_key=False),
    ("bind", 3): _bind,
    ("optMap", 2): _optional_map("optMap", flat=False),
    ("optFlatMap", 2): _optional_map("optFlatMap", flat=True),
    ("sortBy", 2): _sort_by,
}

"""The part of CEL that device selectors use: comparisons, logic, fields, quantities, strings, lists.

What an expression needs beyond that is an error that names it (:class:`CelError`), never a silent answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_core.objects.quantity import parse_quantity

MAX_EXPRESSION = 10 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 64

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.\d+|\d+)|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<symbol>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]]))""",
    re.ASCII,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_COMPARISONS: Mapping[str, Callable[[int], bool]] = {
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


class CelError(Exception):
    """The expression cannot be compiled, or its evaluation failed."""


@dataclass(frozen=True, order=True)
class Quantity:
    """A Kubernetes quantity, in thousandths."""

    amount: int


Scope = Mapping[str, Any]
Expression = Callable[[Scope], Any]


@lru_cache(maxsize=1024)
def compile_cel(text: str) -> Expression:
    """Compile an expression. Raises CelError if it is wrong or uses what is not known here."""
    if len(text) > MAX_EXPRESSION:
        raise CelError(f"the expression is longer than {MAX_EXPRESSION} characters")
    try:
        expression = _Parser(_tokens(text)).parse()
    except RecursionError:
        raise CelError("nested too deeply") from None

    def evaluate(scope: Scope) -> Any:
        try:
            return expression(scope)
        except RecursionError:
            raise CelError("nested too deeply") from None

    return evaluate


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise CelError(f"syntax error at {text[place : place + 20]!r}")
        found.append((str(match.lastgroup), match.group(str(match.lastgroup))))
        place = match.end()
    return [*found, ("end", "")]


class _Parser:
    """Recursive descent; each method returns a function of the variables."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.place = 0
        self.depth = 0

    def parse(self) -> Expression:
        out = self.ternary()
        if self.tokens[self.place][0] != "end":
            raise CelError(f"syntax error at {self.tokens[self.place][1]!r}")
        return out

    def accept(self, *symbols: str) -> str | None:
        kind, text = self.tokens[self.place]
        if (kind == "symbol" or text == "in") and kind != "string" and text in symbols:
            self.place += 1
            return text
        return None

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise CelError(f"syntax error: expected {symbol!r} at {self.tokens[self.place][1]!r}")

    def ternary(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CelError(f"nested deeper than {MAX_DEPTH} levels")
        condition = self.either()
        if self.accept("?"):
            yes = self.ternary()
            self.expect(":")
            no = self.ternary()
            self.depth -= 1
            return lambda scope: yes(scope) if _truth(condition(scope)) else no(scope)
        self.depth -= 1
        return condition

    def either(self) -> Expression:
        left = self.both()
        while self.accept("||"):
            left = _logic(left, self.both(), decisive=True)
        return left

    def both(self) -> Expression:
        left = self.relation()
        while self.accept("&&"):
            left = _logic(left, self.relation(), decisive=False)
        return left

    def relation(self) -> Expression:
        left = self.unary()
        while operator := self.accept("==", "!=", "<", "<=", ">", ">=", "in"):
            left = _compare(operator, left, self.unary())
        if (operator := self.accept("+", "-", "*", "/", "%")) is not None:
            raise CelError(f"the operator {operator!r} is not supported in device selectors here")
        return left

    def unary(self) -> Expression:
        if self.accept("!"):
            operand = self.unary()
            return lambda scope: not _truth(operand(scope))
        if self.accept("-"):
            return _negated(self.unary())
        return self.member()

    def member(self) -> Expression:
        out = self.primary()
        while True:
            if self.accept("."):
                kind, name = self.tokens[self.place]
                if kind != "name":
                    raise CelError(f"syntax error: expected a name at {name!r}")
                self.place += 1
                out = _call(name, out, self.arguments()) if self.accept("(") else _field(out, name)
            elif self.accept("["):
                index = self.ternary()
                self.expect("]")
                out = _index(out, index)
            else:
                return out

    def arguments(self) -> list[Expression]:
        out: list[Expression] = []
        if not self.accept(")"):
            out.append(self.ternary())
            while self.accept(","):
                out.append(self.ternary())
            self.expect(")")
        return out

    def primary(self) -> Expression:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            if len(text) > MAX_DIGITS:
                raise CelError(f"a number of more than {MAX_DIGITS} digits")
            number = float(text) if "." in text else int(text)
            return lambda _: number
        if kind == "string":
            value = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1])
            return lambda _: value
        if kind == "name" and text in ("true", "false", "null"):
            constant = {"true": True, "false": False, "null": None}[text]
            return lambda _: constant
        if kind == "name":
            return _function(text, self.arguments()) if self.accept("(") else _variable(text)
        if text == "(":
            out = self.ternary()
            self.expect(")")
            return out
        if text == "[":
            return self.listing()
        raise CelError(f"syntax error at {text!r}")

    def listing(self) -> Expression:
        items: list[Expression] = []
        if not self.accept("]"):
            items.append(self.ternary())
            while self.accept(","):
                items.append(self.ternary())
            self.expect("]")
        return lambda scope: [item(scope) for item in items]


def _negated(operand: Expression) -> Expression:
    def evaluate(scope: Scope) -> Any:
        number = operand(scope)
        if _kind(number) != "number":
            raise CelError("no such overload")
        return -number

    return evaluate


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise CelError("no such overload")
    return value


def _logic(left: Expression, right: Expression, *, decisive: bool) -> Expression:
    """Logic in which one deciding side is enough, even if the other fails."""

    def evaluate(scope: Scope) -> bool:
        try:
            first = _truth(left(scope))
        except CelError:
            if _truth(right(scope)) is decisive:
                return decisive
            raise
        return decisive if first is decisive else _truth(right(scope))

    return evaluate


def _compare(operator: str, left: Expression, right: Expression) -> Expression:
    def evaluate(scope: Scope) -> bool:
        one, other = left(scope), right(scope)
        if operator == "in":
            if not isinstance(other, list | dict):
                raise CelError("no such overload")
            return any(_equal(one, item) for item in other)
        if operator in ("==", "!="):
            return _equal(one, other) is (operator == "==")
        return _COMPARISONS[operator](_order(one, other))

    return evaluate


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _equal(one: Any, other: Any) -> bool:
    return _kind(one) == _kind(other) and bool(one == other)


def _order(one: Any, other: Any) -> int:
    if _kind(one) != _kind(other) or _kind(one) not in ("number", "str", "Quantity", "bool"):
        raise CelError("no such overload")
    return int(one > other) - int(one < other)


def _variable(name: str) -> Expression:
    def evaluate(scope: Scope) -> Any:
        if name not in scope:
            raise CelError(f"undeclared reference to '{name}'")
        return scope[name]

    return evaluate


def _field(base: Expression, name: str) -> Expression:
    return _lookup(base, lambda _: name)


def _index(base: Expression, index: Expression) -> Expression:
    return _lookup(base, index)


def _lookup(base: Expression, key: Expression) -> Expression:
    def evaluate(scope: Scope) -> Any:
        owner, name = base(scope), key(scope)
        if isinstance(owner, list) and isinstance(name, int) and 0 <= name < len(owner):
            return owner[name]
        if not isinstance(owner, Mapping) or not isinstance(name, str):
            raise CelError("no such overload")
        try:
            return owner[name]
        except KeyError:
            raise CelError(f"no such key: {name}") from None

    return evaluate


def _function(name: str, arguments: list[Expression]) -> Expression:
    if name == "quantity" and len(arguments) == 1:
        return lambda scope: quantity(arguments[0](scope))
    if name == "has" and len(arguments) == 1:
        return lambda scope: _has(arguments[0], scope)
    if name == "size" and len(arguments) == 1:
        return lambda scope: _size(arguments[0](scope))
    raise CelError(f"the function {name!r} is not supported in device selectors here")


def _size(value: Any) -> int:
    if not isinstance(value, str | list | Mapping):
        raise CelError("no such overload")
    return len(value)


def _has(argument: Expression, scope: Scope) -> bool:
    try:
        argument(scope)
    except CelError as error:
        if str(error).startswith("no such key"):
            return False
        raise
    return True


def quantity(text: Any) -> Quantity:
    """Parse a quantity for comparison."""
    try:
        return Quantity(parse_quantity(str(text), 1000))
    except ValueError as error:
        raise CelError(str(error)) from None


_METHODS: Mapping[str, tuple[type, Callable[[Any, Any], Any]]] = {
    "compareTo": (Quantity, _order),
    "isGreaterThan": (Quantity, lambda one, other: _order(one, other) > 0),
    "isLessThan": (Quantity, lambda one, other: _order(one, other) < 0),
    "startsWith": (str, lambda one, other: one.startswith(other)),
    "endsWith": (str, lambda one, other: one.endswith(other)),
    "contains": (str, lambda one, other: other in one),
}


def _call(name: str, base: Expression, arguments: list[Expression]) -> Expression:
    if name not in _METHODS or len(arguments) != 1:
        raise CelError(f"the method {name!r} is not supported in device selectors here")
    kind, method = _METHODS[name]

    def evaluate(scope: Scope) -> Any:
        owner, argument = base(scope), arguments[0](scope)
        if not isinstance(owner, kind) or not isinstance(argument, kind):
            raise CelError("no such overload")
        return method(owner, argument)

    return evaluate

"""Expressions from tokens, by precedence (cel-go's CEL.g4)."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.schedulers.v1_37.cel.errors import Issues, UnsupportedError
from scheduler_core.schedulers.v1_37.cel.macros import MacroFault, expand
from scheduler_core.schedulers.v1_37.cel.nodes import (
    CallExpr,
    EntryExpr,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Message,
    Select,
)
from scheduler_core.schedulers.v1_37.cel.syntax import SyntaxFault, Token, tokens, unquote, unquote_bytes
from scheduler_core.schedulers.v1_37.cel.values import UInt, is_int, is_uint

MAX_LENGTH = 100_000
"""Code points of an expression that cel-go's parser accepts."""

MAX_NESTING = 64
"""Brackets within brackets; cel-go stops at 250."""

MAX_CHAIN = 200
"""Operators, fields and calls in one chain."""

_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop package namespace null return "
    "true var void while".split()
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_LEVELS = (
    {"<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "==": "_==_", "!=": "_!=_", "in": "@in"},
    {"+": "_+_", "-": "_-_"},
    {"*": "_*_", "/": "_/_", "%": "_%_"},
)
_STARTS = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}"
)


def parse(text: str) -> Expr:
    """Parse an expression. Raises CompileError; UnsupportedError if it is nested too deeply."""
    issues = Issues(text)
    if len(text) > MAX_LENGTH:
        issues.report(0, f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_LENGTH}")
        issues.raise_any()
    try:
        return _Parser(list(tokens(text)), issues).whole()
    except SyntaxFault as fault:
        issues.report(fault.place, fault.message)
        issues.raise_any()
        raise


class _Parser:
    def __init__(self, found: list[Token], issues: Issues) -> None:
        self.tokens = found
        self.issues = issues
        self.next = found[0]
        self.index = 0
        self.depth = 0

    def advance(self) -> Token:
        token, self.index = self.next, self.index + 1
        self.next = self.tokens[min(self.index, len(self.tokens) - 1)]
        return token

    def accept(self, *symbols: str) -> Token | None:
        if self.next.kind in ("symbol", "name") and self.next.text in symbols:
            return self.advance()
        return None

    def expect(self, symbol: str) -> Token:
        return self.accept(symbol) or self.mismatch(f"'{symbol}'")

    def mismatch(self, wanted: str) -> Token:
        raise SyntaxFault(
            self.next.place, f"Syntax error: mismatched input '{self.next.text}' expecting {wanted}"
        )

    def whole(self) -> Expr:
        out = self.expression()
        if self.next.kind != "end":
            self.mismatch("<EOF>")
        self.issues.raise_any()
        return out

    def expression(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise UnsupportedError(f"expressions nested deeper than {MAX_NESTING} levels are not supported")
        out = self.logic("||", "_||_")
        if mark := self.accept("?"):
            yes = self.logic("||", "_||_")
            self.expect(":")
            out = CallExpr(mark.place, "_?_:_", [out, yes, self.expression()])
        self.depth -= 1
        return out

    def logic(self, symbol: str, function: str) -> Expr:
        """Read terms of ``||`` or ``&&``, all of one operator in one call."""
        terms, place = [self._term(symbol)], 0
        while found := self.accept(symbol):
            place = place or found.place
            terms.append(self._term(symbol))
        return CallExpr(place, function, terms) if len(terms) > 1 else terms[0]

    def _term(self, symbol: str) -> Expr:
        return self.logic("&&", "_&&_") if symbol == "||" else self.binary(0)

    def binary(self, level: int) -> Expr:
        if level == len(_LEVELS):
            return self.unary()
        left, links = self.binary(level + 1), 0
        while found := self.accept(*_LEVELS[level]):
            links = self._chained(links)
            left = CallExpr(found.place, _LEVELS[level][found.text], [left, self.binary(level + 1)])
        return left

    @staticmethod
    def _chained(links: int) -> int:
        if links == MAX_CHAIN:
            raise UnsupportedError(f"chains of more than {MAX_CHAIN} operations are not supported")
        return links + 1

    def unary(self) -> Expr:
        for symbol, function in (("!", "!_"), ("-", "-_")):
            if self.next.kind == "symbol" and self.next.text == symbol:
                return self._signed(symbol, function)
        return self.member()

    def _signed(self, symbol: str, function: str) -> Expr:
        first, count = self.next, 0
        if symbol == "-" and self.tokens[self.index + 1].kind in ("int", "float"):
            return self.member()  # the sign of the literal, of which there is one at most
        while self.next.kind == "symbol" and self.next.text == symbol:
            self.advance()
            count += 1
        operand = self.member()
        return CallExpr(first.place, function, [operand]) if count % 2 else operand

    def member(self) -> Expr:
        out, links = self.primary(), 0
        while True:
            if dot := self.accept("."):
                out = self._selection(dot, out)
            elif bracket := self.accept("["):
                function = "_[?_]" if self.accept("?") else "_[_]"
                out = CallExpr(bracket.place, function, [out, self.expression()])
                self.expect("]")
            else:
                return out
            links = self._chained(links)

    def _selection(self, dot: Token, operand: Expr) -> Expr:
        optional = self.accept("?")
        token = self.advance() if self.next.kind in ("name", "escaped") else self.mismatch("IDENTIFIER")
        if token.kind == "escaped" and not (self.next.text == "(" and not optional):
            name = token.text[1:-1]
            return (
                CallExpr(dot.place, "_?._", [operand, Literal(token.place, name)])
                if optional
                else Select(dot.place, operand, name)
            )
        if token.text in _CONSTANTS or token.text == "in":
            raise SyntaxFault(
                token.place, f"Syntax error: mismatched input '{token.text}' expecting IDENTIFIER"
            )
        if optional:
            return CallExpr(dot.place, "_?._", [operand, Literal(token.place, token.text)])
        if opening := self.accept("("):
            return self.call(opening.place, token.text, operand, self.arguments(")"))
        return Select(dot.place, operand, token.text)

    def call(self, place: int, name: str, target: Expr | None, arguments: list[Expr]) -> Expr:
        try:
            found = expand(place, name, target, arguments)
        except MacroFault as fault:
            self.issues.report(fault.place, fault.message)
            return Literal(place, None)
        return found or CallExpr(place, name, arguments, target)

    def arguments(self, closing: str) -> list[Expr]:
        out: list[Expr] = []
        if not self.accept(closing):
            out.append(self.expression())
            while self.accept(","):
                out.append(self.expression())
            self.expect(closing)
        return out

    def primary(self) -> Expr:
        token = self.next
        if token.kind == "symbol":
            return self._bracketed(token)
        if token.kind == "name":
            self.advance()
            return self._named(token, "")
        if token.kind in _LITERALS:
            self.advance()
            return _LITERALS[token.kind](token, "")
        self.mismatch(_STARTS)
        raise AssertionError

    def _bracketed(self, token: Token) -> Expr:
        if self.accept("("):
            out = self.expression()
            self.expect(")")
            return out
        if self.accept("["):
            return self._list(token.place)
        if self.accept("{"):
            return self._map(token.place)
        if self.accept("."):
            name = self.advance() if self.next.kind == "name" else self.mismatch("IDENTIFIER")
            return self._named(name, ".")
        if token.text == "-" and self.tokens[self.index + 1].kind in ("int", "float"):
            self.advance()
            number = self.advance()
            return _LITERALS[number.kind](number._replace(place=token.place), "-")
        self.mismatch(_STARTS)
        raise AssertionError

    def _named(self, token: Token, dot: str) -> Expr:
        if not dot and token.text in _CONSTANTS:
            return Literal(token.place, _CONSTANTS[token.text])
        if token.text in ("in", *_CONSTANTS):
            raise SyntaxFault(
                token.place, f"Syntax error: mismatched input '{token.text}' expecting IDENTIFIER"
            )
        message = self._message(token, dot)
        if message is not None:
            return message
        if token.text in _RESERVED:
            self.issues.report(token.place, f"reserved identifier: {token.text}")
        if opening := self.accept("("):
            return self.call(opening.place, dot + token.text, None, self.arguments(")"))
        return Ident(token.place, dot + token.text)

    def _message(self, token: Token, dot: str) -> Expr | None:
        """Read ``a.b.C{…}`` if that follows."""
        ahead, name = self.index, token.text
        while self.tokens[ahead].text == "." and self.tokens[ahead + 1].kind == "name":
            name += "." + self.tokens[ahead + 1].text
            ahead += 2
        if self.tokens[ahead].text != "{" or self.tokens[ahead].kind != "symbol":
            return None
        while self.index <= ahead:
            opening = self.advance()
        while not self.accept("}"):
            if self.advance().kind not in ("name", "escaped"):
                self.mismatch("IDENTIFIER")
            self.expect(":")
            self.expression()
            if not self.accept(",") and self.next.text != "}":
                self.mismatch("'}'")
        return Message(opening.place, dot + name)

    def _list(self, place: int) -> Expr:
        elements: list[Expr] = []
        optional: set[int] = set()
        while not self.accept("]"):
            if elements or self.next.text == ",":
                self.expect(",")
                if self.accept("]"):
                    break
            if self.accept("?"):
                optional.add(len(elements))
            elements.append(self.expression())
        return ListExpr(place, elements, frozenset(optional))

    def _map(self, place: int) -> Expr:
        entries: list[EntryExpr] = []
        while not self.accept("}"):
            if entries or self.next.text == ",":
                self.expect(",")
                if self.accept("}"):
                    break
            optional = self.accept("?") is not None
            key = self.expression()
            self.expect(":")
            entries.append(EntryExpr(key, self.expression(), optional))
        return MapExpr(place, entries)


def _integer(text: str, token: Token, fits: Callable[[int], bool], kind: str) -> int:
    digits = text.removeprefix("-")
    base = 16 if digits.startswith("0x") else 10
    if len(digits) > 64:
        raise SyntaxFault(token.place, f"invalid {kind} literal")
    number = int(digits, base) * (-1 if text.startswith("-") else 1)
    if not fits(number):
        raise SyntaxFault(token.place, f"invalid {kind} literal")
    return number


def _int(token: Token, sign: str) -> Expr:
    return Literal(token.place, _integer(sign + token.text, token, is_int, "int"))


def _uint(token: Token, _: str) -> Expr:
    return Literal(token.place, UInt(_integer(token.text[:-1], token, is_uint, "uint")))


def _double(token: Token, sign: str) -> Expr:
    number = float(sign + token.text)
    if number in (float("inf"), float("-inf")):
        raise SyntaxFault(token.place, "invalid double literal")
    return Literal(token.place, number)


_LITERALS: dict[str, Callable[[Token, str], Expr]] = {
    "int": _int,
    "uint": _uint,
    "float": _double,
    "string": lambda token, _: Literal(token.place, unquote(token)),
    "bytes": lambda token, _: Literal(token.place, unquote_bytes(token)),
}

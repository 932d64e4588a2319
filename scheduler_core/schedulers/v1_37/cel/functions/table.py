"""How a library declares its functions: a row for each signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.schedulers.v1_37.cel.types import Type, parse_type

Run = Callable[..., Any]


@dataclass(frozen=True)
class Overload:
    """A signature of a function. Without ``run``, the function has one for all of them, or is an operator."""

    id: str
    function: str
    is_member: bool
    arguments: tuple[Type, ...]
    result: Type
    run: Run | None = None


@dataclass
class FunctionDecl:
    """A function with its overloads, in the order in which they are tried.

    ``shared`` implements all of them; ``admits`` are the permitted first arguments. ``sequential`` ones
    stop at the first argument that fails, where others evaluate all (evalVarArgs). ``guarded`` ones check
    the types of their arguments at run time.
    """

    name: str
    overloads: list[Overload] = field(default_factory=list)
    shared: Run | None = None
    admits: Callable[[Any], bool] | None = None
    sequential: bool = False
    guarded: bool = True


Library = dict[str, FunctionDecl]


def row(id_: str, signature: str, run: Run | None = None) -> Overload:
    """Declare ``target.name(types) -> type`` or ``name(types) -> type``."""
    call, _, result = signature.partition(" -> ")
    head, _, rest = call.partition("(") if not call.startswith(_PARAMETRIC) else _split_target(call)
    arguments = tuple(parse_type(one) for one in _split(rest.removesuffix(")")))
    target, dot, name = head.rpartition(".")
    if not dot or target in _NAMESPACES:
        return Overload(id_, head, False, arguments, parse_type(result), run)
    return Overload(id_, name, True, (parse_type(target), *arguments), parse_type(result), run)


_NAMESPACES = ("format", "ip", "lists", "optional", "sets", "strings", "cel")
_PARAMETRIC = ("list(", "map(", "optional(")


def _split_target(call: str) -> tuple[str, str, str]:
    dot = call.index(").") + 1
    name, opening, rest = call[dot:].partition("(")
    return call[:dot] + name, opening, rest


def _split(text: str) -> list[str]:
    out, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            out.append("")
        else:
            out[-1] += char
    return [one.strip() for one in out if one.strip()]


def library(rows: Sequence[Overload], **options: Any) -> Library:
    """Return functions of rows; the options are those of each FunctionDecl."""
    out: Library = {}
    for one in rows:
        out.setdefault(one.function, FunctionDecl(one.function, **options)).overloads.append(one)
    return out


def merged(*libraries: Library) -> Library:
    """Return all functions; those of one name get the overloads of each."""
    out: Library = {}
    for each in libraries:
        for name, function in each.items():
            if name in out:
                out[name].overloads += function.overloads
            else:
                out[name] = function
    return out

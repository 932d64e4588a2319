"""Every regular expression of the source, with the texts that would take it longest.

Nothing is listed by hand: calls of :mod:`re` are found in the syntax trees, their patterns evaluated where
they stand, and each is tried with what is derived from the pattern itself.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from tests.costs import growth, least_costs

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("playground", "scheduler_core")
SEARCHES = ("search", "sub", "subn", "findall", "finditer", "split")
METHODS = ("match", "fullmatch", *SEARCHES)
APPLIES = re.compile(rf"\bre\.compile|\.(?:{'|'.join(METHODS)})\b")


class FoundPattern(NamedTuple):
    """A pattern where the source compiles or applies it; ``methods`` are those that it is applied by."""

    file: str
    source: str
    pattern: re.Pattern[Any] | None  # None: of values that only the running program has
    methods: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.file.removesuffix('.py')}: {self.source}"


@cache
def syntax() -> Mapping[Path, Sequence[ast.AST]]:
    """Return what matters here of every file's tree: imports, patterns with their names, and methods."""
    files = [one for package in PACKAGES for one in sorted((ROOT / package).rglob("*.py"))]
    texts = ((one, one.read_text(encoding="utf-8")) for one in files if "migrations" not in one.parts)
    return {
        one: [node for node in ast.walk(ast.parse(text)) if _matters(node)]
        for one, text in texts
        if APPLIES.search(text)
    }


def _matters(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Attribute) and node.attr in METHODS)
        or _is_call(node.value if isinstance(node, ast.Assign) else node)
    )


@cache
def applied() -> Mapping[tuple[str, str], frozenset[str]]:
    """The methods that are called of a name, by the file that makes it: there, and where it is imported."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, nodes in syntax().items():
        file = path.relative_to(ROOT).as_posix()
        imports = {
            alias.asname or alias.name: (f"{(one.module or '').replace('.', '/')}.py", alias.name)
            for one in nodes
            if isinstance(one, ast.ImportFrom)
            for alias in one.names
        }
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                of = node.value
                name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
                found.setdefault(imports.get(name, (file, name)), set()).add(node.attr)
    return {name: frozenset(methods) for name, methods in found.items()}


def patterns() -> Iterator[FoundPattern]:
    """Yield every call of a function of :mod:`re` that has a pattern."""
    for path, nodes in syntax().items():
        if not any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in nodes):
            continue
        file = path.relative_to(ROOT).as_posix()
        names = {id(one.value): one.targets[0] for one in nodes if isinstance(one, ast.Assign)}
        for node in nodes:
            if not _is_call(node):
                continue
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            target = names.get(id(node))
            if node.func.attr != "compile":
                methods, source = frozenset({node.func.attr}), ast.unparse(node.args[0])
            else:
                source = ast.unparse(target if target is not None else node.args[0])
                methods = applied().get((file, source.rpartition(".")[2]), frozenset()) or frozenset(METHODS)
            yield FoundPattern(file, source, _compiled(file, node), methods)


def _is_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in ("compile", *METHODS)
    )


def _compiled(file: str, call: ast.Call) -> re.Pattern[Any] | None:
    module = importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    assert isinstance(call.func, ast.Attribute)
    takes = 1 if call.func.attr == "compile" else 2
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    flags += call.args[takes + (call.func.attr in ("sub", "subn")) :] if call.func.attr != "split" else []
    made = ast.Call(call.func, [call.args[0], *flags], [])
    made.func = ast.Attribute(ast.Name("re", ast.Load()), "compile", ast.Load())
    whole = ast.fix_missing_locations(ast.Expression(made))
    try:
        found: re.Pattern[Any] = eval(compile(whole, file, "eval"), vars(module))
    except NameError:
        return None
    return found


# --- texts


def attacks(pattern: re.Pattern[Any]) -> Sequence[Callable[[int], Any]]:
    """Return texts by their length: repetitions of parts of what the pattern matches, each with a bad end."""
    binary = isinstance(pattern.pattern, bytes)
    text = pattern.pattern.decode("latin-1") if binary else pattern.pattern
    samples = list(
        dict.fromkeys(_samples(parser.parse(text, pattern.flags & ~re.UNICODE if binary else pattern.flags)))
    )
    made: dict[tuple[str, str, str], None] = {}
    for sample in samples[:MOST_SAMPLES]:
        short = sample[:LOOKED_AT]
        for start in range(len(short)):
            for end in range(start + 1, min(len(short), start + LONGEST_PUMP) + 1):
                for bad in BAD:
                    made[short[:start], short[start:end], bad] = None
        for bad in BAD:
            made["", sample, bad] = None
            made["", sample[:-1] or sample, bad] = None
    for character in {one for sample in samples for one in sample} | set(COMMON):
        for bad in BAD:
            made["", character, bad] = None
    return [_attack(*parts, binary=binary) for parts in made]


MOST_SAMPLES = 6
LOOKED_AT, LONGEST_PUMP = 8, 3
BAD = ("", "\0")
COMMON = " \n\"'`{[(<\\/.-:=0a"


def _attack(before: str, pump: str, bad: str, *, binary: bool) -> Callable[[int], Any]:
    def text(size: int) -> Any:
        whole = f"{before}{pump * (size // len(pump))}{bad}"
        return whole.encode("latin-1", "replace") if binary else whole

    text.__doc__ = f"{before!r} {pump!r}… {bad!r}"
    return text


def _samples(parts: Any) -> Iterator[str]:
    """Yield texts that a pattern matches, or begins to: with each branch, and repetitions of two."""
    found = [""]
    for operator, value in parts:
        choices = list(dict.fromkeys(_choices(operator, value)))[:MOST_SAMPLES] or [""]
        found = [
            one + choices[number % len(choices)]
            for number, one in enumerate(found * len(choices) if len(found) < MOST_SAMPLES else found)
        ][:MOST_SAMPLES]
    yield from found


def _choices(operator: Any, value: Any) -> Iterator[str]:
    match operator:
        case sre.LITERAL:
            yield chr(value)
        case sre.NOT_LITERAL:
            yield next(one for one in "a !" if ord(one) != value)
        case sre.ANY:
            yield "a"
        case sre.IN:
            yield from _of_class(value)
        case sre.BRANCH:
            for branch in value[1]:
                yield from _samples(branch)
        case sre.SUBPATTERN:
            yield from _samples(value[-1])
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            least, _, inner = value
            for one in _samples(inner):
                yield one * min(max(least, 2), 40)
        case sre.ATOMIC_GROUP:
            yield from _samples(value)
        case sre.GROUPREF_EXISTS:
            yield from _samples(value[1])
        case _:  # places and what is looked for around them match no character
            return


def _of_class(value: Any) -> Iterator[str]:
    if value and value[0][0] is sre.NEGATE:
        denied = {one for operator, part in value[1:] for one in _members(operator, part)}
        yield next((one for one in "a 0!-~é" if one not in denied), "ø")
        return
    for operator, part in value:
        members = [*_members(operator, part)]
        yield from members[:1]


def _members(operator: Any, part: Any) -> Iterator[str]:
    if operator is sre.LITERAL:
        yield chr(part)
    elif operator is sre.RANGE:
        yield from map(chr, range(part[0], min(part[1], part[0] + 300) + 1))
    elif operator is sre.CATEGORY:
        yield from {
            sre.CATEGORY_DIGIT: "0123456789", sre.CATEGORY_SPACE: " \t\n\r", sre.CATEGORY_WORD: "a0_bcdexyz",
            sre.CATEGORY_NOT_DIGIT: "a", sre.CATEGORY_NOT_SPACE: "a", sre.CATEGORY_NOT_WORD: "!",
        }[part]  # fmt: skip


# --- trying


def run(found: FoundPattern, method: str, text: Any) -> None:
    """Apply a pattern as the source does."""
    assert found.pattern is not None
    if method in ("sub", "subn"):
        found.pattern.sub(text[:0], text)
    elif method in ("findall", "finditer", "split"):
        for _ in found.pattern.finditer(text):
            pass
    else:
        getattr(found.pattern, method)(text)


def grows(found: FoundPattern, method: str, text: Callable[[int], Any]) -> str:
    """Return how a pattern's time grows faster than the text, "" if it does not.

    First short texts, on which exponential growth shows already; then longer ones, that take a text of
    4,000 characters microseconds by one pass, and tens of milliseconds by a pass for each character.
    """
    few, short, long = (partial(run, found, method, text(size)) for size in (20, 1_000, 4_000))
    if all(least > SUSPECT for [least] in least_costs(few, sure=1)):
        return "20 characters take milliseconds"
    times = growth(short, long, 8, SUSPECT)
    return f"four times {text.__doc__} takes {times:.0f} times as long by {method}" if times else ""


SUSPECT = 0.002  # seconds

"""The condition of a contract: a comparison of facts in CEL's grammar, as a truth value and as a margin.

The margin is by how much a condition holds, negative where it does not: of a comparison the difference of its
sides, of ``&&`` the least, of ``||`` the greatest (the robustness of signal temporal logic).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.schedulers.v1_37.cel.errors import CompileError
from scheduler_core.schedulers.v1_37.cel.nodes import CallExpr, Expr, Ident, Literal, Select
from scheduler_core.schedulers.v1_37.cel.parser import parse

MOST_CHARACTERS = 1_000


class FactName(NamedTuple):
    """A fact that a condition names, with the argument of one that takes some."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f'{self.name}("{self.argument}")' if self.argument else self.name


PODS, QUEUES, CLUSTER = "pods", "a ClusterQueue", "the cluster"


class FactRow(NamedTuple):
    """One row of the closed list: what it is, what its argument is, "" if it takes none, and whose it is."""

    meaning: str
    argument: str = ""
    of: tuple[str, ...] = (PODS,)


_BOTH = PODS, QUEUES
_QUOTA = "a resource, or FLAVOR/RESOURCE"
FACTS: Mapping[str, FactRow] = {
    "ready": FactRow("pods that are Running and ready and not being deleted"),
    "desired": FactRow("pods that the workloads want"),
    "pending": FactRow("pods without a node; of a ClusterQueue, Workloads that wait for quota", of=_BOTH),
    "pending.seconds": FactRow("for how long the one has been pending that waits longest", of=_BOTH),
    "bound": FactRow("pods that have a node and are not being deleted"),
    "evicted": FactRow(
        "pods evicted so far, through the API or by a taint; of a ClusterQueue, its Workloads", of=_BOTH
    ),
    "moved": FactRow("pods of the beginning that have left the node they were on"),
    "skew": FactRow("most minus fewest bound pods over the domains of a node label", "a node label"),
    "victims.priority": FactRow(f"the highest priority of a preempted pod, {-(2**31)} before there is one"),
    "admitted": FactRow("Workloads that are admitted", of=(QUEUES,)),
    "owed.seconds": FactRow(
        "for how long a Workload has been pending that fits in what is left of the nominal quota",
        of=(QUEUES,),
    ),
    "used": FactRow("what admitted Workloads use, in cores, bytes or pieces", _QUOTA, (QUEUES,)),
    "nominal": FactRow("the nominal quota, in cores, bytes or pieces", _QUOTA, (QUEUES,)),
    "free": FactRow(
        "what nodes that take pods have left of a resource, in cores, bytes or pieces",
        "a resource",
        (CLUSTER,),
    ),
}
"""The closed list of facts, with whose they are."""


class StateFacts(Protocol):
    """The facts of a state."""

    def __call__(self, fact: FactName) -> float:
        """Return a fact."""
        ...


_Value = Callable[[StateFacts], float]
_Judged = Callable[[StateFacts], tuple[bool, float]]


class ConditionError(ValueError):
    """A condition that is none; the text says what would be right."""


class Condition(NamedTuple):
    """A condition that was read: its text, the facts it names, and what judges it."""

    text: str
    facts: tuple[FactName, ...]
    judge: _Judged
    """Return whether it holds, and by how much."""


def read_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    if len(text) > MOST_CHARACTERS:
        raise ConditionError(f"a condition has at most {MOST_CHARACTERS:,} characters, not {len(text):,}")
    try:
        tree = parse(text)
    except CompileError as error:
        raise ConditionError(f"is not an expression of CEL: {_first_line(error)}") from None
    reader = _ConditionReader()
    judge = reader.truth(tree)
    return Condition(text, tuple(dict.fromkeys(reader.facts)), judge)


def _first_line(error: CompileError) -> str:
    text = str(error).removeprefix("compilation failed: ").partition("\n")[0]
    return text.removeprefix("ERROR: <input>:")


_COMPARED: Mapping[str, Callable[[float, float], tuple[bool, float]]] = {
    "_<_": lambda a, b: (a < b, b - a),
    "_<=_": lambda a, b: (a <= b, b - a),
    "_>_": lambda a, b: (a > b, a - b),
    "_>=_": lambda a, b: (a >= b, a - b),
    "_==_": lambda a, b: (a == b, -abs(a - b)),
    "_!=_": lambda a, b: (a != b, abs(a - b)),
}
_COUNTED: Mapping[str, Callable[[float, float], float]] = {
    "_+_": operator.add,
    "_-_": operator.sub,
    "_*_": operator.mul,
    "_/_": lambda a, b: a / b if b else 0.0,
    "_%_": lambda a, b: a % b if b else 0.0,
}
_JOINED: Mapping[str, tuple[Callable[..., bool], Callable[..., float]]] = {
    "_&&_": (all, min),
    "_||_": (any, max),
}
_EXAMPLE = "compare facts, as in ready >= 4"


class _ConditionReader:
    """What turns an expression into functions, and lists the facts it names."""

    def __init__(self) -> None:
        self.facts: list[FactName] = []

    def truth(self, node: Expr) -> _Judged:
        """Return what judges a boolean part."""
        match node:
            case Literal(value=bool() as value):
                return lambda _facts: (value, 1.0 if value else -1.0)
            case CallExpr(function="!_", arguments=[one]):
                return _negated(self.truth(one))
            case CallExpr(function=("_&&_" | "_||_") as name, arguments=parts):
                return _joined(name, [self.truth(part) for part in parts])
            case CallExpr(function=name, arguments=[left, right], target=None) if name in _COMPARED:
                return _compared(name, self.number(left), self.number(right))
        raise ConditionError(f"is no condition at {_place(node)}: {_EXAMPLE}")

    def number(self, node: Expr) -> _Value:
        """Return what counts a numeric part."""
        match node:
            case Literal(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                return lambda _facts: float(value)
            case CallExpr(function="-_", arguments=[one]):
                negated = self.number(one)
                return lambda facts: -negated(facts)
            case CallExpr(function=name, arguments=[left, right], target=None) if name in _COUNTED:
                return _counted(name, self.number(left), self.number(right))
        fact = self._fact(node)
        self.facts.append(fact)
        return lambda facts: facts(fact)

    def _fact(self, node: Expr) -> FactName:
        name, arguments = _named(node)
        row = FACTS.get(name)
        if row is None:
            hint = did_you_mean(name, FACTS) or f": they are {', '.join(FACTS)}"
            raise ConditionError(f"there is no fact {name!r}{hint}" if name else _not_a_number(node))
        if not row.argument and arguments is None:
            return FactName(name)
        if row.argument and arguments and len(arguments) == 1:
            argument = _argument(arguments[0])
            if argument:
                return FactName(name, argument)
        wanted = f'{name}("…") with {row.argument} in quotes' if row.argument else f"{name}, without ()"
        raise ConditionError(f"{name} is written {wanted}")


def _not_a_number(node: Expr) -> str:
    return f"there is neither a number nor a fact at {_place(node)}: {_EXAMPLE}"


def _place(node: Expr) -> str:
    return f"character {node.place + 1}"


def _named(node: Expr) -> tuple[str, Sequence[Expr] | None]:
    match node:
        case CallExpr(function=name, arguments=arguments, target=None) if name.isidentifier():
            return name, arguments
        case _:
            return _dotted(node), None


def _dotted(node: Expr) -> str:
    match node:
        case Ident(name=name):
            return name
        case Select(operand=operand, name=name) if _dotted(operand):
            return f"{_dotted(operand)}.{name}"
        case _:
            return ""


def _argument(node: Expr) -> str:
    """Return a text, or a name without quotes, as in ``free(cpu)``."""
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else _dotted(node)


def _negated(one: _Judged) -> _Judged:
    def judge(facts: StateFacts) -> tuple[bool, float]:
        holds, margin = one(facts)
        return not holds, -margin

    return judge


def _joined(name: str, parts: Sequence[_Judged]) -> _Judged:
    join, measure = _JOINED[name]

    def judge(facts: StateFacts) -> tuple[bool, float]:
        found: list[Any] = [part(facts) for part in parts]
        return join([holds for holds, _ in found]), measure(margin for _, margin in found)

    return judge


def _compared(name: str, left: _Value, right: _Value) -> _Judged:
    compare = _COMPARED[name]
    return lambda facts: compare(left(facts), right(facts))


def _counted(name: str, left: _Value, right: _Value) -> _Value:
    count = _COUNTED[name]
    return lambda facts: count(left(facts), right(facts))

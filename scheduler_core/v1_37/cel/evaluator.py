"""Programs: an expression with types as functions that evaluate it (cel-go's interpreter/planner.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_core.v1_37.cel.attributes import Attribute, Delayed, Qualifier, Scope, Step
from scheduler_core.v1_37.cel.costs import BY_RESULT, LIST, MAP, Cost, Meter, cost_of
from scheduler_core.v1_37.cel.errors import CelError, CompileError
from scheduler_core.v1_37.cel.functions.operators import Growing
from scheduler_core.v1_37.cel.functions.regex import compiled
from scheduler_core.v1_37.cel.functions.standard import CONVERSIONS
from scheduler_core.v1_37.cel.functions.table import Function, Library, Run
from scheduler_core.v1_37.cel.nodes import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select
from scheduler_core.v1_37.cel.types import Type
from scheduler_core.v1_37.cel.validators import runtime_name
from scheduler_core.v1_37.cel.values import (
    NO_OVERLOAD,
    CelMap,
    GrowingMap,
    Optional,
    equal,
    shown,
    type_name,
)

_GO_TYPES = {
    "string": "types.String", "int": "types.Int", "uint": "types.Uint", "double": "types.Double",
    "bool": "types.Bool", "bytes": "types.Bytes", "null_type": "types.Null",
    "optional_type": "*types.Optional",
    "kubernetes.Semver": "cel.Semver", "kubernetes.Quantity": "cel.Quantity",
}  # fmt: skip


class Constant:
    """A step whose value is known when the program is made."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, scope: Scope) -> Any:
        """Return the value, which costs nothing."""
        del scope
        return self.value


@dataclass(frozen=True)
class Program:
    """An expression to evaluate."""

    step: Step

    def run(self, variables: dict[str, Any], limit: int) -> tuple[Any, int]:
        """Return the result, which may be a CelError, and what it cost. Raises CostExceededError."""
        meter = Meter(limit)
        return self.step(Scope(variables, meter)), meter.cost


def make_program(root: Node, functions: Library) -> Program:
    """Make a program of a checked expression. Raises CompileError where a constant cannot be converted."""
    try:
        return Program(_Planner(functions).plan(root))
    except CelError as error:
        raise CompileError(f"program instantiation failed: {error}") from None


class _Planner:
    def __init__(self, functions: Library) -> None:
        self.functions = functions
        self.operators: dict[str, Callable[[Call], Step]] = {
            "_&&_": lambda node: _logic(self._steps(node), decisive=False),
            "_||_": lambda node: _logic(self._steps(node), decisive=True),
            "_==_": lambda node: self._comparison(node, _equals),
            "_!=_": lambda node: self._comparison(node, _differs),
            "@not_strictly_false": lambda node: _charged(self._steps(node), _not_strictly_false),
            "or": lambda node: _alternative(self._steps(node), unwrap=False),
            "orValue": lambda node: _alternative(self._steps(node), unwrap=True),
        }

    def plan(self, node: Node) -> Step:
        """Return the step of a node."""
        match node:
            case Literal():
                return Constant(node.value)
            case Ident() | Select() if node.constant is not None:
                return Constant(node.constant)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Fold():
                return self._fold(node)
            case Call() if not _is_attribute(node):
                return self._call(node)
            case _:
                return _paid(self.attribute(node))

    def _steps(self, node: Call) -> list[Step]:
        return [self.plan(operand) for operand in node.operands]

    def attribute(self, node: Node) -> Attribute:
        """Return an attribute; of other nodes, one relative to their result."""
        match node:
            case Ident() if node.constant is None:
                name = node.name.removeprefix(".")
                return Attribute(lambda scope: scope.find(name))
            case Select() if node.constant is None:
                out = self.attribute(node.operand)
                out.qualifiers.append(Qualifier(Constant(node.name), test=node.test))
                out.free = out.free or node.test
                return out
            case Call(function="_?_:_"):
                return self._conditional(node)
            case Call(function="_[_]" | "_[?_]" | "_?._"):
                out = self.attribute(node.arguments[0])
                key = self._key(node.arguments[1])
                out.qualifiers.append(Qualifier(key, optional=node.function != "_[_]"))
                return out
            case _:
                return Attribute(self.plan(node))

    def _key(self, node: Node) -> Step:
        """Return the step of an index; one that is an attribute costs only its qualifiers."""
        return self.attribute(node).resolve if _is_attribute(node) else self.plan(node)

    def _conditional(self, node: Call) -> Attribute:
        condition = self.plan(node.arguments[0])
        yes, no = (self.attribute(branch) for branch in node.arguments[1:])

        def choose(scope: Scope) -> Any:
            chosen = condition(scope)
            if chosen is True:
                return yes.resolve(scope)
            if chosen is False:
                return no.resolve(scope)
            return chosen if isinstance(chosen, CelError) else CelError(NO_OVERLOAD)

        return Attribute(choose, free=True)

    def _list(self, node: ListNode) -> Step:
        steps = [self.plan(element) for element in node.elements]
        if all(isinstance(step, Constant) for step in steps) and not node.optional:
            return Constant([step.value for step in steps if isinstance(step, Constant)])

        def run(scope: Scope) -> Any:
            out: list[Any] = []
            problem = _collect(steps, node.optional, scope, out)
            scope.meter.charge(LIST)
            return out if problem is None else problem

        return run

    def _map(self, node: MapNode) -> Step:
        steps = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        flat = [step for key, value, _ in steps for step in (key, value)]
        if all(isinstance(step, Constant) for step in flat) and not any(one[2] for one in steps):
            values = [step.value for step in flat if isinstance(step, Constant)]
            return Constant(CelMap(zip(values[::2], values[1::2])))

        def run(scope: Scope) -> Any:
            out: list[Any] = []
            problem = _collect_entries(steps, scope, out)
            scope.meter.charge(MAP)
            return CelMap(out) if problem is None else problem

        return run

    def _comparison(self, node: Call, compare: Run) -> Step:
        return _charged_with(self._steps(node), compare, cost_of(node.function, node.overload))

    def _call(self, node: Call) -> Step:
        made = self.operators.get(node.function)
        if made is not None:
            return made(node)
        steps = self._steps(node)
        if node.overload == "in_list" and isinstance(steps[1], Constant):
            membership = _membership(steps[0], steps[1].value)
            if membership is not None:
                return membership
        if node.function in CONVERSIONS and len(steps) == 1 and isinstance(steps[0], Constant):
            return Constant(_succeed(_guarded(self.functions[node.function], node)([steps[0].value])))
        sequential = self._is_sequential(node, steps)
        run = _guarded(self.functions[node.function], node)
        if node.function in ("matches", "find", "findAll") and isinstance(steps[1], Constant):
            run = _matching(run)
        cost = cost_of(node.function, node.overload)
        return _invoke(steps, run, cost, sequential=sequential, after=node.function in BY_RESULT)

    def _is_sequential(self, node: Call, steps: list[Step]) -> bool:
        function = self.functions[node.function]
        if node.function in ("matches", "find", "findAll") and isinstance(steps[1], Constant):
            compiled(steps[1].value)
            return True
        dynamic = function.shared is None and not node.overload and len(function.overloads) > 1
        return function.sequential or dynamic or len(steps) > 2

    def _fold(self, node: Fold) -> Step:
        over, start = self.plan(node.over), self.plan(node.start)
        condition, step, result = self.plan(node.condition), self.plan(node.step), self.plan(node.result)

        def run(scope: Scope) -> Any:
            values = over(scope)
            if isinstance(values, CelError):
                return values
            items = _items(values, pairs=bool(node.second))
            if isinstance(items, CelError):
                return items
            outer = Scope({node.accumulator: Delayed(_growing(start), scope)}, scope.meter, scope)
            inner = Scope({}, scope.meter, outer)
            for first, second in items:
                inner.names[node.variable] = first
                if node.second:
                    inner.names[node.second] = second
                if condition(inner) is False:
                    break
                outer.names[node.accumulator] = step(inner)
            return _settled(result(outer))

        return run


def _is_attribute(node: Node) -> bool:
    """Return whether a node is a value reached from another, or one of two."""
    if isinstance(node, Ident | Select):
        return node.constant is None
    return isinstance(node, Call) and node.function in ("_?_:_", "_[_]", "_[?_]", "_?._")


def _paid(attribute: Attribute) -> Step:
    if attribute.free:
        return attribute.resolve

    def run(scope: Scope) -> Any:
        value = attribute.resolve(scope)
        scope.meter.charge(1)
        return value

    return run


def _logic(steps: list[Step], *, decisive: bool) -> Step:
    """Return the step of ``||`` or ``&&``: a term that decides counts, even after one that failed."""

    def run(scope: Scope) -> Any:
        problem = None
        for step in steps:
            value = step(scope)
            if value is decisive:
                return decisive
            if not isinstance(value, bool) and problem is None:
                problem = value if isinstance(value, CelError) else CelError(NO_OVERLOAD)
        return problem if problem is not None else not decisive

    return run


def _alternative(steps: list[Step], *, unwrap: bool) -> Step:
    """Return the step of ``or`` or ``orValue``, which evaluate the other value only if they need it."""
    first, other = steps

    def run(scope: Scope) -> Any:
        value = first(scope)
        if isinstance(value, CelError):
            return value
        if not isinstance(value, Optional):
            return CelError(NO_OVERLOAD)
        if not value.has_value:
            return other(scope)
        return value.value if unwrap else value

    return run


def _equals(one: Any, other: Any) -> Any:
    return equal(one, other)


def _differs(one: Any, other: Any) -> Any:
    return equal(one, other) is not True


def _not_strictly_false(value: Any) -> bool:
    return value if isinstance(value, bool) else True


def _charged(steps: list[Step], run: Run) -> Step:
    """Return a step of cost 1 that takes errors as well."""
    (step,) = steps

    def evaluate(scope: Scope) -> Any:
        value = run(step(scope))
        scope.meter.charge(1)
        return value

    return evaluate


def _charged_with(steps: list[Step], run: Run, cost: Cost) -> Step:
    return _invoke(steps, lambda arguments: run(*arguments), cost)


def _invoke(
    steps: list[Step],
    run: Callable[[list[Any]], Any],
    cost: Cost,
    *,
    sequential: bool = False,
    after: bool = False,
) -> Step:
    """Return the step of a call, which costs nothing if it stopped before its last argument.

    Its cost is counted before it runs, so that a call beyond the limit does not, or ``after``.
    """

    def evaluate(scope: Scope) -> Any:
        arguments: list[Any] = []
        problem = None
        for step in steps:
            value = step(scope)
            arguments.append(value)
            if problem is None and isinstance(value, CelError):
                problem = value
                if sequential:
                    break
        counted = len(arguments) == len(steps)
        if counted and not after:
            scope.meter.charge(cost(arguments, None))
        result = run(arguments) if problem is None else problem
        if counted and after:
            scope.meter.charge(cost(arguments, result))
        return result

    return evaluate


def _guarded(function: Function, node: Call) -> Callable[[list[Any]], Any]:
    """Return what runs the overload that arguments fit, with errors as results."""
    if function.shared is not None:
        return _shared(function, function.shared)
    fitting = [one for one in function.overloads if not node.overload or one.id == node.overload]

    def run(arguments: list[Any]) -> Any:
        for overload in fitting:
            if len(overload.arguments) != len(arguments) or overload.run is None:
                continue
            if not function.guarded or all(fits(*pair) for pair in zip(overload.arguments, arguments)):
                return _caught(overload.run, arguments)
        signature = ", ".join(map(type_name, arguments))
        return CelError(f"{NO_OVERLOAD}: {function.name}({signature})")

    return run


def _shared(function: Function, shared: Run) -> Callable[[list[Any]], Any]:
    def run(arguments: list[Any]) -> Any:
        if function.admits is None or function.admits(arguments[0]):
            return _caught(shared, arguments)
        if isinstance(arguments[0], str) or type_name(arguments[0]).startswith("google.protobuf."):
            return CelError(NO_OVERLOAD)  # these receive calls themselves, and know no such one
        return CelError(f"{NO_OVERLOAD}: {function.name}")

    return run


def _matching(run: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Return what matches a constant pattern, which names no function in its error."""
    return lambda arguments: run(arguments) if isinstance(arguments[0], str) else CelError(NO_OVERLOAD)


def _caught(run: Run, arguments: list[Any]) -> Any:
    try:
        return run(*arguments)
    except CelError as error:
        return error


def _succeed(value: Any) -> Any:
    if isinstance(value, CelError):
        raise value
    return value


def fits(kind: Type, value: Any) -> bool:
    """Return whether a value is of a type, of lists and maps by the first element."""
    if kind.is_dynamic or kind.kind == "param":
        return True
    if runtime_name(kind) != type_name(value):
        return False
    if isinstance(value, list) and value:
        return fits(kind.parameters[0], value[0])
    if isinstance(value, CelMap) and len(value):
        key, item = next(iter(value.items()))
        return fits(kind.parameters[0], key) and fits(kind.parameters[1], item)
    return True


def _membership(step: Step, values: Any) -> Step | None:
    """Return the step of ``in`` with a constant list of simple values, which costs nothing itself."""
    if not values:
        return Constant(False)
    if not all(isinstance(value, bool | int | float | str) for value in values):
        return None

    def run(scope: Scope) -> Any:
        value = step(scope)
        return value if isinstance(value, CelError) else any(equal(value, one) is True for one in values)

    return run


def _collect(steps: list[Step], optional: frozenset[int], scope: Scope, out: list[Any]) -> CelError | None:
    for index, step in enumerate(steps):
        value = step(scope)
        if isinstance(value, CelError):
            return value
        if index in optional:
            if not isinstance(value, Optional):
                return CelError(
                    f"cannot initialize optional list element from non-optional value {shown(value)}"
                )
            if not value.has_value:
                continue
            value = value.value
        out.append(value)
    return None


def _collect_entries(
    steps: list[tuple[Step, Step, bool]], scope: Scope, out: list[tuple[Any, Any]]
) -> CelError | None:
    for key_step, value_step, optional in steps:
        key = key_step(scope)
        value = key if isinstance(key, CelError) else value_step(scope)
        if isinstance(value, CelError):
            return value
        if optional:
            if not isinstance(value, Optional):
                problem = (
                    f"cannot initialize optional entry '{shown(key)}' from non-optional value {shown(value)}"
                )
                return CelError(problem)
            if not value.has_value:
                continue
            value = value.value
        out.append((key, value))
    return None


def _items(values: Any, *, pairs: bool) -> Iterator[tuple[Any, Any]] | CelError:
    """Return what a comprehension goes through: elements or keys, or pairs of index or key and value."""
    if isinstance(values, list):
        return iter(enumerate(values)) if pairs else ((value, None) for value in values)
    if isinstance(values, CelMap):
        return iter(values.items()) if pairs else ((key, None) for key in values)
    name = _GO_TYPES.get(type_name(values), type_name(values))
    if pairs:
        return CelError(f"unsupported comprehension range type: {name}")
    return CelError(f"got '{name}', expected iterable type")


def _growing(start: Step) -> Step:
    """Return the start of an accumulator; an empty list or map grows in place."""

    def run(scope: Scope) -> Any:
        value = start(scope)
        if value == [] and isinstance(value, list):
            return Growing()
        return GrowingMap() if isinstance(value, CelMap) and not len(value) else value

    return run


def _settled(value: Any) -> Any:
    if isinstance(value, Growing):
        return list(value)
    return CelMap(value.items()) if isinstance(value, GrowingMap) else value

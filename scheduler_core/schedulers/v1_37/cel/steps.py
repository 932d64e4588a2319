"""Steps of programs: what evaluates calls, lists, maps and comprehensions (cel-go's interpretable.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.schedulers.v1_37.cel.attributes import Activation, Attribute, Step
from scheduler_core.schedulers.v1_37.cel.costs import Cost
from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.operators import Growing
from scheduler_core.schedulers.v1_37.cel.functions.table import FunctionDecl, Run
from scheduler_core.schedulers.v1_37.cel.nodes import CallExpr
from scheduler_core.schedulers.v1_37.cel.types import Type
from scheduler_core.schedulers.v1_37.cel.validators import runtime_name
from scheduler_core.schedulers.v1_37.cel.values import (
    NO_OVERLOAD,
    CelMap,
    GrowingMap,
    Optional,
    equal,
    go_type,
    shown,
    type_name,
)


class Constant:
    """A step whose value is known when the program is made."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, scope: Activation) -> Any:
        """Return the value, which costs nothing."""
        del scope
        return self.value


def paid(attribute: Attribute) -> Step:
    """Return the step of an attribute, which costs 1 unless it is free."""
    if attribute.free:
        return attribute.resolve

    def run(scope: Activation) -> Any:
        value = attribute.resolve(scope)
        scope.meter.charge(1)
        return value

    return run


def logic(steps: list[Step], *, decisive: bool) -> Step:
    """Return the step of ``||`` or ``&&``: a term that decides counts, even after one that failed."""

    def run(scope: Activation) -> Any:
        problem = None
        for step in steps:
            value = step(scope)
            if value is decisive:
                return decisive
            if not isinstance(value, bool) and problem is None:
                problem = value if isinstance(value, CelError) else CelError(NO_OVERLOAD)
        return problem if problem is not None else not decisive

    return run


def alternative(steps: list[Step], *, unwrap: bool) -> Step:
    """Return the step of ``or`` or ``orValue``, which evaluate the other value only if they need it."""
    first, other = steps

    def run(scope: Activation) -> Any:
        value = first(scope)
        if isinstance(value, CelError):
            return value
        if not isinstance(value, Optional):
            return CelError(NO_OVERLOAD)
        if not value.has_value:
            return other(scope)
        return value.value if unwrap else value

    return run


def equals(one: Any, other: Any) -> Any:
    """Evaluate ``==``."""
    return equal(one, other)


def differs(one: Any, other: Any) -> Any:
    """Evaluate ``!=``, for which an error is a difference."""
    return equal(one, other) is not True


def not_strictly_false(value: Any) -> bool:
    """Return whether a comprehension goes on: unless its condition is false."""
    return value if isinstance(value, bool) else True


def charged(steps: list[Step], run: Run) -> Step:
    """Return a step of cost 1 that takes errors as well."""
    (step,) = steps

    def evaluate(scope: Activation) -> Any:
        value = run(step(scope))
        scope.meter.charge(1)
        return value

    return evaluate


def charged_with(steps: list[Step], run: Run, cost: Cost) -> Step:
    """Return the step of an operator of values of any type."""
    return invoke(steps, lambda arguments: run(*arguments), cost)


def invoke(
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

    def evaluate(scope: Activation) -> Any:
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


def guarded(function: FunctionDecl, node: CallExpr) -> Callable[[list[Any]], Any]:
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


def _shared(function: FunctionDecl, run_shared: Run) -> Callable[[list[Any]], Any]:
    def run(arguments: list[Any]) -> Any:
        if function.admits is None or function.admits(arguments[0]):
            return _caught(run_shared, arguments)
        if isinstance(arguments[0], str) or type_name(arguments[0]).startswith("google.protobuf."):
            return CelError(NO_OVERLOAD)  # these receive calls themselves, and know no such one
        return CelError(f"{NO_OVERLOAD}: {function.name}")

    return run


def matching(run: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Return what matches a constant pattern, which names no function in its error."""
    return lambda arguments: run(arguments) if isinstance(arguments[0], str) else CelError(NO_OVERLOAD)


def _caught(run: Run, arguments: list[Any]) -> Any:
    try:
        return run(*arguments)
    except CelError as error:
        return error


def succeed(value: Any) -> Any:
    """Return a result. Raises it if it is an error."""
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


def membership(step: Step, values: Any) -> Step | None:
    """Return the step of ``in`` with a constant list of simple values, which costs nothing itself."""
    if not values:
        return Constant(False)
    if not all(isinstance(value, bool | int | float | str) for value in values):
        return None

    def run(scope: Activation) -> Any:
        value = step(scope)
        return value if isinstance(value, CelError) else any(equal(value, one) is True for one in values)

    return run


def collect(
    steps: list[Step], optional: frozenset[int], scope: Activation, out: list[Any]
) -> CelError | None:
    """Evaluate elements into a list; return the error that ends it."""
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


def collect_entries(
    steps: list[tuple[Step, Step, bool]], scope: Activation, out: list[tuple[Any, Any]]
) -> CelError | None:
    """Evaluate keys and values into a list; return the error that ends it."""
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


def items(values: Any, *, pairs: bool) -> Iterator[tuple[Any, Any]] | CelError:
    """Return what a comprehension goes through: elements or keys, or pairs of index or key and value."""
    if isinstance(values, list):
        return iter(enumerate(values)) if pairs else ((value, None) for value in values)
    if isinstance(values, CelMap):
        return iter(values.items()) if pairs else ((key, None) for key in values)
    name = go_type(type_name(values))
    if pairs:
        return CelError(f"unsupported comprehension range type: {name}")
    return CelError(f"got '{name}', expected iterable type")


def growing(start: Step) -> Step:
    """Return the start of an accumulator; an empty list or map grows in place."""

    def run(scope: Activation) -> Any:
        value = start(scope)
        if value == [] and isinstance(value, list):
            return Growing()
        return GrowingMap() if isinstance(value, CelMap) and not len(value) else value

    return run


def settled(value: Any) -> Any:
    """Return the result of a comprehension as a value that grows no more."""
    if isinstance(value, Growing):
        return list(value)
    return CelMap(value.items()) if isinstance(value, GrowingMap) else value

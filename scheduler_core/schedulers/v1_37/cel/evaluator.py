"""Programs: an expression with types as functions that evaluate it (cel-go's interpreter/planner.go)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler_core.schedulers.v1_37.cel.attributes import Activation, Attribute, Delayed, Qualifier, Step
from scheduler_core.schedulers.v1_37.cel.costs import BY_RESULT, LIST, MAP, CostTracker, cost_of
from scheduler_core.schedulers.v1_37.cel.errors import CelError, CompileError
from scheduler_core.schedulers.v1_37.cel.functions.regex import compiled
from scheduler_core.schedulers.v1_37.cel.functions.standard import CONVERSIONS
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, Run
from scheduler_core.schedulers.v1_37.cel.nodes import (
    CallExpr,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
)
from scheduler_core.schedulers.v1_37.cel.steps import (
    Constant,
    alternative,
    charged,
    charged_with,
    collect,
    collect_entries,
    differs,
    equals,
    growing,
    guarded,
    invoke,
    items,
    logic,
    matching,
    membership,
    not_strictly_false,
    paid,
    settled,
    succeed,
)
from scheduler_core.schedulers.v1_37.cel.values import (
    NO_OVERLOAD,
    CelMap,
)


@dataclass(frozen=True)
class Program:
    """An expression to evaluate."""

    step: Step

    def run(self, variables: dict[str, Any], limit: int) -> tuple[Any, int]:
        """Return the result, which may be a CelError, and what it cost. Raises CostExceededError."""
        meter = CostTracker(limit)
        return self.step(Activation(variables, meter)), meter.cost


def make_program(root: Expr, functions: Library) -> Program:
    """Make a program of a checked expression. Raises CompileError where a constant cannot be converted."""
    try:
        return Program(_Planner(functions).plan(root))
    except CelError as error:
        raise CompileError(f"program instantiation failed: {error}") from None


class _Planner:
    def __init__(self, functions: Library) -> None:
        self.functions = functions
        self.operators: dict[str, Callable[[CallExpr], Step]] = {
            "_&&_": lambda node: logic(self._steps(node), decisive=False),
            "_||_": lambda node: logic(self._steps(node), decisive=True),
            "_==_": lambda node: self._comparison(node, equals),
            "_!=_": lambda node: self._comparison(node, differs),
            "@not_strictly_false": lambda node: charged(self._steps(node), not_strictly_false),
            "or": lambda node: alternative(self._steps(node), unwrap=False),
            "orValue": lambda node: alternative(self._steps(node), unwrap=True),
        }

    def plan(self, node: Expr) -> Step:
        """Return the step of a node."""
        match node:
            case Literal():
                return Constant(node.value)
            case Ident() | Select() if node.constant is not None:
                return Constant(node.constant)
            case ListExpr():
                return self._list(node)
            case MapExpr():
                return self._map(node)
            case Fold():
                return self._fold(node)
            case CallExpr() if not _is_attribute(node):
                return self._call(node)
            case _:
                return paid(self.attribute(node))

    def _steps(self, node: CallExpr) -> list[Step]:
        return [self.plan(operand) for operand in node.operands]

    def attribute(self, node: Expr) -> Attribute:
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
            case CallExpr(function="_?_:_"):
                return self._conditional(node)
            case CallExpr(function="_[_]" | "_[?_]" | "_?._"):
                out = self.attribute(node.arguments[0])
                key = self._key(node.arguments[1])
                out.qualifiers.append(Qualifier(key, optional=node.function != "_[_]"))
                return out
            case _:
                return Attribute(self.plan(node))

    def _key(self, node: Expr) -> Step:
        """Return the step of an index; one that is an attribute costs only its qualifiers."""
        return self.attribute(node).resolve if _is_attribute(node) else self.plan(node)

    def _conditional(self, node: CallExpr) -> Attribute:
        condition = self.plan(node.arguments[0])
        yes, no = (self.attribute(branch) for branch in node.arguments[1:])

        def choose(scope: Activation) -> Any:
            chosen = condition(scope)
            if chosen is True:
                return yes.resolve(scope)
            if chosen is False:
                return no.resolve(scope)
            return chosen if isinstance(chosen, CelError) else CelError(NO_OVERLOAD)

        return Attribute(choose, free=True)

    def _list(self, node: ListExpr) -> Step:
        steps = [self.plan(element) for element in node.elements]
        if all(isinstance(step, Constant) for step in steps) and not node.optional:
            return Constant([step.value for step in steps if isinstance(step, Constant)])

        def run(scope: Activation) -> Any:
            out: list[Any] = []
            problem = collect(steps, node.optional, scope, out)
            scope.meter.charge(LIST)
            return out if problem is None else problem

        return run

    def _map(self, node: MapExpr) -> Step:
        steps = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        flat = [step for key, value, _ in steps for step in (key, value)]
        if all(isinstance(step, Constant) for step in flat) and not any(one[2] for one in steps):
            values = [step.value for step in flat if isinstance(step, Constant)]
            return Constant(CelMap(zip(values[::2], values[1::2])))

        def run(scope: Activation) -> Any:
            out: list[Any] = []
            problem = collect_entries(steps, scope, out)
            scope.meter.charge(MAP)
            return CelMap(out) if problem is None else problem

        return run

    def _comparison(self, node: CallExpr, compare: Run) -> Step:
        return charged_with(self._steps(node), compare, cost_of(node.function, node.overload))

    def _call(self, node: CallExpr) -> Step:
        made = self.operators.get(node.function)
        if made is not None:
            return made(node)
        steps = self._steps(node)
        if node.overload == "in_list" and isinstance(steps[1], Constant):
            known = membership(steps[0], steps[1].value)
            if known is not None:
                return known
        if node.function in CONVERSIONS and len(steps) == 1 and isinstance(steps[0], Constant):
            return Constant(succeed(guarded(self.functions[node.function], node)([steps[0].value])))
        sequential = self._is_sequential(node, steps)
        run = guarded(self.functions[node.function], node)
        if node.function in ("matches", "find", "findAll") and isinstance(steps[1], Constant):
            run = matching(run)
        cost = cost_of(node.function, node.overload)
        return invoke(steps, run, cost, sequential=sequential, after=node.function in BY_RESULT)

    def _is_sequential(self, node: CallExpr, steps: list[Step]) -> bool:
        function = self.functions[node.function]
        if node.function in ("matches", "find", "findAll") and isinstance(steps[1], Constant):
            compiled(steps[1].value)
            return True
        dynamic = function.shared is None and not node.overload and len(function.overloads) > 1
        return function.sequential or dynamic or len(steps) > 2

    def _fold(self, node: Fold) -> Step:
        over, start = self.plan(node.over), self.plan(node.start)
        condition, step, result = self.plan(node.condition), self.plan(node.step), self.plan(node.result)

        def run(scope: Activation) -> Any:
            values = over(scope)
            if isinstance(values, CelError):
                return values
            entries = items(values, pairs=bool(node.second))
            if isinstance(entries, CelError):
                return entries
            outer = Activation({node.accumulator: Delayed(growing(start), scope)}, scope.meter, scope)
            inner = Activation({}, scope.meter, outer)
            for first, second in entries:
                inner.names[node.variable] = first
                if node.second:
                    inner.names[node.second] = second
                if condition(inner) is False:
                    break
                outer.names[node.accumulator] = step(inner)
            return settled(result(outer))

        return run


def _is_attribute(node: Expr) -> bool:
    """Return whether a node is a value reached from another, or one of two."""
    if isinstance(node, Ident | Select):
        return node.constant is None
    return isinstance(node, CallExpr) and node.function in ("_?_:_", "_[_]", "_[?_]", "_?._")

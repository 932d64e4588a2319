"""The types of what is sent reach the browser's modules as they are declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from msgspec import Struct

from playground.management.commands import browser_types
from playground.protocol.declarations import Named, Raw, row
from playground.protocol.typescript import declarations, interface, text

Index = Annotated[int, Named("Index")]
Pair = Annotated[Sequence[Any], row(node=Index, from_=NotRequired[str]), Named("Pair")]


class CardWire(TypedDict):
    """What a card shows."""

    name: str
    state: Literal["idle", "busy"] | None
    pairs: Sequence[Pair]
    counts: NotRequired[Mapping[str, float]]
    whole: Annotated[Any, Raw("Partial<Card>")]
    rows: Sequence[str | int]


def test_an_interface_has_the_fields_with_their_types() -> None:
    """Names of aliases, optional fields, tuples and unions read as TypeScript has them."""
    assert interface(CardWire) == (
        "/**\n * What a card shows.\n */\n"
        "export interface Card {\n"
        "  name: string;\n"
        '  state: "idle" | "busy" | null;\n'
        "  pairs: Pair[];\n"
        "  counts?: Record<string, number>;\n"
        "  whole: Partial<Card>;\n"
        "  rows: (string | number)[];\n"
        "}"
    )
    assert text(Pair, alias=False) == "[node: Index, from?: string]"


class LaneRow(Struct, rename="camel"):
    """A lane."""

    as_of: float
    names: Sequence[str] = ()


def test_a_struct_of_the_engine_has_the_names_that_it_is_sent_under() -> None:
    """What is sent as the engine has it is not declared a second time."""
    module = ModuleType("engine")
    vars(module)["LaneRow"] = LaneRow
    [made] = declarations([module])
    assert made.endswith("export interface LaneRow {\n  asOf: number;\n  names: string[];\n}")


def test_each_type_is_declared_once() -> None:
    """A module that imports an alias does not declare it again."""
    first, second = ModuleType("first"), ModuleType("second")
    vars(first)["Index"] = vars(second)["Index"] = Index
    assert list(declarations([first, second])) == ["export type Index = number;"]


def test_what_has_no_type_is_refused() -> None:
    """A type that JSON does not have is an error of the declaration."""
    with pytest.raises(TypeError, match="no type of TypeScript"):
        text(set[str])


def test_every_command_is_in_the_table() -> None:
    """A command's row tells its fields, those that may be left out, and its answer."""
    browser_types.Command().handle()
    written = browser_types.TARGET.read_text()
    assert '"step.locate": { asks: { source: Source; step: string }; answers: Located };' in written
    assert "export interface Pushed {" in written

"""Types of what is sent, as TypeScript.

:class:`~typing.TypedDict` as interfaces, :class:`.Named` aliases as types.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Annotated, Any, Literal, Never, NotRequired, TypeGuard, Union

from msgspec import Struct, UnsetType, structs

from playground.protocol.declarations import Named, Places, Raw

SUFFIX = "Wire"
PLAIN: Mapping[Any, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    object: "unknown",
    Any: "any",
    Never: "undefined",
}
WIDTH = 116


def declarations(modules: Iterable[types.ModuleType]) -> Iterator[str]:
    """Yield the types that modules declare, and the structs that they import, each once, in their order."""
    seen: set[str] = set()
    for module in modules:
        for name, declared in vars(module).items():
            if typing.is_typeddict(declared) and declared.__module__ == module.__name__ and name[0] != "_":
                yield interface(declared)
            elif _is_struct(declared) and name not in seen:
                seen.add(name)
                yield _interface(declared, name, _fields_of(declared))
            elif _named(declared) == name and name not in seen:
                seen.add(name)  # others import it
                yield f"export type {name} = {text(declared, alias=False)};"


def interface(declared: type) -> str:
    """Return the interface of a :class:`~typing.TypedDict`, those that it extends included."""
    return _interface(declared, name_of(declared), typing.get_type_hints(declared, include_extras=True))


def _interface(declared: type, name: str, fields: Mapping[str, Any]) -> str:
    lines = [f"  {_field(name, kind)};" for name, kind in fields.items()]
    said = (declared.__doc__ or "").split()
    about = ["/**", *(f" * {line}" for line in wrap(" ".join(said), WIDTH)), " */"] if said else []
    return "\n".join([*about, f"export interface {name} {{", *lines, "}"])


def _is_struct(declared: Any) -> TypeGuard[type[Struct]]:
    return isinstance(declared, type) and issubclass(declared, Struct) and declared is not Struct


def _fields_of(declared: type[Struct]) -> dict[str, Any]:
    """Return the fields of a struct of the engine by the names that they are sent under."""
    kinds = typing.get_type_hints(declared, include_extras=True)
    omits = declared.__struct_config__.omit_defaults
    return {
        field.encode_name: NotRequired[kinds[field.name]]
        if omits and not field.required
        else kinds[field.name]
        for field in structs.fields(declared)
    }


def name_of(declared: type) -> str:
    """Return the name that the browser's modules have for a :class:`~typing.TypedDict`."""
    return declared.__name__.removesuffix(SUFFIX)


def text(kind: Any, *, alias: bool = True) -> str:
    """Return a type in TypeScript; with ``alias`` by its name, if it has one.

    Raises:
        TypeError: Nothing of TypeScript corresponds to it.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _annotated(kind, alias=alias)
    if typing.is_typeddict(kind):
        return name_of(kind)
    if _is_struct(kind):
        return kind.__name__
    if origin is Literal:
        return " | ".join(_literal(value) for value in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(text(one) for one in arguments if one is not UnsetType))
    if origin in (Sequence, list):
        item = text(arguments[0])
        return f"({item})[]" if " " in item and item[0] not in "[{" else f"{item}[]"
    if origin in (Mapping, dict):
        return f"Record<{text(arguments[0])}, {text(arguments[1])}>"
    if kind in PLAIN:
        return PLAIN[kind]
    raise TypeError(f"no type of TypeScript for {kind!r}")


def _annotated(kind: Any, *, alias: bool) -> str:
    named = _named(kind)
    if named and alias:
        return named
    for said in kind.__metadata__:
        if isinstance(said, Raw):
            return said.text
        if isinstance(said, Places):
            return _row(said)
    return text(kind.__origin__)


def _named(kind: Any) -> str:
    """Return the name of an alias, "" if it has none."""
    said = getattr(kind, "__metadata__", ())
    return next((one.name for one in said if isinstance(one, Named)), "")


def _row(places: Places) -> str:
    """Return a tuple whose places have names; in TypeScript all of them have, or none."""
    tell = not any(name.startswith("_") for name, _ in places.places)
    named = [_field(name, kind) if tell else text(kind) for name, kind in places.places]
    rest = [] if places.rest is None else [f"...{text(places.rest)}"]
    return f"[{', '.join([*named, *rest])}]"


def _field(name: str, kind: Any) -> str:
    if typing.get_origin(kind) is NotRequired:
        return f"{name}?: {text(typing.get_args(kind)[0])}"
    if UnsetType in typing.get_args(kind):
        return f"{name}?: {text(kind)}"
    return f"{name}: {text(kind)}"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()

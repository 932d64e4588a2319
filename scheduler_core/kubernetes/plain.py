"""Structs as JSON types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import UNSET, Meta, json
from msgspec.inspect import is_struct_type

Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]  # of virtual time


def plain(value: object) -> Any:
    """Return structs, and containers of them, as dicts and lists by the names that JSON has for their fields.

    Raises TypeError for what JSON does not have, such as an array.
    """
    return json.decode(json.encode(value))


def one_of(words: Iterable[str]) -> Meta:
    """Return the annotation of a text that is one of a few."""
    return Meta(extra_json_schema={"enum": list(words)})


def schemas(kinds: Iterable[Any], template: str) -> dict[str, Any]:
    """Return the JSON Schemas of structs and TypedDicts, and of those they refer to, by name.

    Docstrings are descriptions; ``template`` is the address of a schema, with ``{name}``. A struct is encoded
    with all its fields, so those with a default are required too, except if that is UNSET, or a struct of
    ``kinds`` omits defaults.
    """
    kinds = tuple(kinds)
    omitting = {
        kind.__name__ for kind in kinds if is_struct_type(kind) and kind.__struct_config__.omit_defaults
    }
    _, found = json.schema_components(kinds, ref_template=template)
    for name, schema in found.items():
        schema.pop("title", None)  # its name again
        if "properties" not in schema:
            continue
        required = set(schema.get("required", ()))
        schema["required"] = [
            each
            for each, field in schema["properties"].items()
            if (field.pop("default", UNSET) is not UNSET and name not in omitting) or each in required
        ]
    return found

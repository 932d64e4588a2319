"""Requests of commands as structs: fields, what their values may be, and which of them names the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from django.http import QueryDict
from msgspec import Meta, Struct, ValidationError, structs, to_builtins
from msgspec.inspect import is_struct_type

from playground.calls.faults import Fault, RequestFieldError, fault_of
from playground.protocol.declarations import Named, Raw
from scheduler_core.kubernetes.conversion import converted

R = TypeVar("R", bound="Request")

LEAF_CHARACTERS = 2_000
Text = Annotated[str, Meta(description="a text of Unicode characters other than NUL")]
Index = Annotated[int, Meta(ge=0, lt=10**9, description="a whole number from 0")]
"""Bounded, so that no command receives an absurd number."""


def whole_number(least: int, most: int) -> Meta:
    """Return the annotation of a number within bounds."""
    return Meta(ge=least, le=most, description=f"a whole number from {least} to {most:,}")


Texts = Annotated[list[str], Meta(max_length=20, description="a list of texts")]
_Word = Annotated[str, Meta(max_length=LEAF_CHARACTERS)]
Leaf = Annotated[
    _Word | int | bool | Annotated[list[_Word | int | bool | None], Meta(max_length=100)],
    Named("Leaf"),
    Raw("string | boolean | number | string[]"),
    Meta(
        description="a text, a whole number, true, false, or a list of these, "
        f"of at most {LEAF_CHARACTERS:,} characters"
    ),
]
Fields = Annotated[dict[str, Any], Meta(description="an object of Unicode texts without NUL")]
Source = Annotated[dict[str, Any], Raw("Source"), Meta(description="an object of Unicode texts without NUL")]


class Parameter(NamedTuple):
    """The name and meaning of a field in a query string, where a list is repeated or separated by commas."""

    name: str
    meaning: str
    separated: bool = False


class Request(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """The payload of a command, or of a route; a field whose default is None may be null or left out."""

    @property
    def wire(self) -> dict[str, Any]:
        """The fields that were sent, by the names in the frame."""
        return dict(to_builtins(self))


def one_of(words: Sequence[str]) -> Meta:
    """Return the annotation of a text that is one of a few."""
    known = "|".join(map(re.escape, words))
    return Meta(pattern=rf"\A(?:{known})\Z", description=f"one of {', '.join(words)}")


class OfSource(Request):
    """A request about a scenario, a draft, a run or an example."""

    source: Source


class OfDraft(Request):
    """A request about a draft."""

    draft: Text


class OfRun(Request):
    """A request about a run."""

    run: Text


SUBJECTS: Mapping[type[Request], str] = {OfDraft: "draft", OfRun: "run"}
"""The field by which a request names its source, by the struct that declares it."""


def subject_of(takes: type[Request]) -> str:
    """Return the field that names the source of a request, "" if it has none."""
    if "source" in takes.__struct_fields__:  # which a route has in its address
        return "source"
    return next((field for base, field in SUBJECTS.items() if issubclass(takes, base)), "")


class RequestField(Struct, frozen=True):
    """A field of a request as it is sent."""

    name: str
    type: Any
    required: bool

    @property
    def meaning(self) -> str:
        """What a value of it has to be."""
        return next(str(each.description) for each in self.type.__metadata__ if isinstance(each, Meta))

    @property
    def parameter(self) -> Parameter:
        """How a query string has it."""
        own = (each for each in self.type.__metadata__ if isinstance(each, Parameter))
        return next(own, Parameter(self.name, self.meaning))

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return get_origin(self.type.__origin__) is list

    @property
    def is_number(self) -> bool:
        """Whether its values are whole numbers."""
        return self.type.__origin__ is int


@cache
def fields_of(takes: type[Request]) -> Mapping[str, RequestField]:
    """Return the fields of a request by the names in the frame."""
    kinds = get_type_hints(takes, include_extras=True)
    found = (
        RequestField(field.encode_name, _without_none(kinds[field.name]), field.required)
        for field in structs.fields(takes)
    )
    return {field.name: field for field in found}


def _without_none(kind: Any) -> Any:
    return kind if hasattr(kind, "__metadata__") else get_args(kind)[0]


def read(takes: type[R], payload: Any, *, strict: bool = True) -> R:
    """Return a payload as a request; unless ``strict``, numbers may be texts, as in a query string.

    Raises:
        RequestFieldError: A field is missing, or its value is not of its type.
    """
    if not isinstance(payload, dict):
        raise RequestFieldError("", "The payload must be an object.")
    try:
        request = converted(payload, takes, strict=strict)
    except ValidationError as error:
        fault = fault_of(error)
        if fault.missing:
            raise RequestFieldError(fault.path, fault.message) from error
        raise _invalid(takes, fault) from error
    for name in fields_of(takes):
        if not _is_sound(payload.get(name)):
            raise _invalid(takes, Fault(name, ""))
    return request


def read_query(takes: type[R], query: QueryDict) -> R:
    """Return a query string as a request; a parameter without a value counts as left out.

    Raises RequestFieldError.
    """
    return read(takes, dict(_given(takes, query)), strict=False)


def _given(takes: type[Request], query: QueryDict) -> Iterator[tuple[str, Any]]:
    for field in fields_of(takes).values():
        name, _, separated = field.parameter
        texts = [text for text in query.getlist(name) if text]
        if texts:
            listed = [one for one in ",".join(texts).split(",") if one] if separated else texts
            yield field.name, listed if field.is_list else texts[-1]


def _invalid(takes: type[Request], fault: Fault) -> RequestFieldError:
    """Return the error for a field: of an object that is a struct, for the field inside it."""
    field = fields_of(takes)[re.split(r"\W", fault.path, maxsplit=1)[0]]
    if fault.path != field.name and is_struct_type(field.type.__origin__):
        return RequestFieldError(fault.path, fault.message)
    return RequestFieldError(field.name, f"{field.name} must be {field.meaning}.")


def _is_sound(value: Any) -> bool:
    r"""Return whether all texts of a value can be stored and sent: JSON allows lone surrogates and NUL."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            rest += [*item, *item.values()]
        elif isinstance(item, list):
            rest += item
        elif isinstance(item, str) and not _is_sound_text(item):
            return False
    return True


def _is_sound_text(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False

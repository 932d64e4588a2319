"""Named formats (k8s.io/apiserver/pkg/cel/library/format.go)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.optionals import some
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row
from scheduler_core.schedulers.v1_37.cel.functions.urls import parse_url
from scheduler_core.schedulers.v1_37.cel.values import NONE, Optional, register_strict

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"(({_NAME}))?"
_CHARACTERS = "must consist of lower case alphanumeric characters"
_LABEL_TEXT = (
    f"a lowercase RFC 1123 label {_CHARACTERS} or '-', and must start and end with an alphanumeric character "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_LABEL_1035_TEXT = (
    f"a DNS-1035 label {_CHARACTERS} or '-', start with an alphabetic character, and end with an "
    f"alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '{_LABEL_1035}')"
)
_SUBDOMAIN_TEXT = (
    f"a lowercase RFC 1123 subdomain {_CHARACTERS}, '-' or '.', and must start and end with an alphanumeric "
    f"character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_EDGES = "'-', '_' or '.', and must start and end with an alphanumeric character"
_NAME_TEXT = f"must consist of alphanumeric characters, {_EDGES}"
_VALUE_TEXT = (
    f"a valid label must be an empty string or consist of alphanumeric characters, {_EDGES} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_UUID = re.compile(
    r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}", re.ASCII
)
_DATETIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})([Tt])(\d{2}):(\d{2}):(\d{2})(?:.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)


@dataclass(frozen=True)
class Format:
    """A format: its name, what is wrong with a text, and how long its expression counts."""

    name: str
    problems: Callable[[str], list[str]]
    length: int


register_strict(Format, "kubernetes.NamedFormat")


def _limited(limit: int, shape: str, complaint: str, *, prefix: bool = False) -> Callable[[str], list[str]]:
    """Make a check of length and characters; of a prefix, the last dash may be anything."""
    pattern = re.compile(shape)

    def problems(text: str) -> list[str]:
        if prefix and len(text) > 1 and text.endswith("-"):
            text = text[:-2] + "a"
        out = [f"must be no more than {limit} characters"] if len(text.encode()) > limit else []
        if pattern.fullmatch(text):
            return out
        has_dots = complaint == _LABEL_TEXT and re.fullmatch(_SUBDOMAIN, text)
        return [*out, "must not contain dots" if has_dots else complaint]

    return problems


def _qualified_name(text: str) -> list[str]:
    parts = text.split("/")
    example = f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
    if len(parts) > 2:
        lead = "a qualified name " + _NAME_TEXT
        return [f"{lead} {example} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    out: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            out.append("prefix part must be non-empty")
        else:
            out += [f"prefix part {one}" for one in _limited(253, _SUBDOMAIN, _SUBDOMAIN_TEXT)(parts[0])]
    name = parts[-1]
    if not name:
        out.append("name part must be non-empty")
    elif len(name) > 63:
        out.append("name part must be no more than 63 characters")
    return out if re.fullmatch(_NAME, name) else [*out, f"name part {_NAME_TEXT} {example}"]


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except CelError as error:
        return [str(error).partition("from string: ")[2]]
    return []


def _unless(test: Callable[[str], bool], complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if test(text) else [complaint]


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _is_date(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_datetime(text: str) -> bool:
    match = _DATETIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second = (int(match[group]) for group in (3, 4, 5))
    return hour < 24 and minute < 60 and second < 60 and _is_date(match[1])


FORMATS: dict[str, Format] = {
    "dns1123Label": Format("DNS1123Label", _limited(63, _LABEL, _LABEL_TEXT), 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _limited(253, _SUBDOMAIN, _SUBDOMAIN_TEXT), 60),
    "dns1035Label": Format("DNS1035Label", _limited(63, _LABEL_1035, _LABEL_1035_TEXT), 30),
    "qualifiedName": Format("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _limited(63, _LABEL, _LABEL_TEXT, prefix=True), 30),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix", _limited(253, _SUBDOMAIN, _SUBDOMAIN_TEXT, prefix=True), 60
    ),
    "dns1035LabelPrefix": Format(
        "DNS1035LabelPrefix", _limited(63, _LABEL_1035, _LABEL_1035_TEXT, prefix=True), 30
    ),
    "labelValue": Format("LabelValue", _limited(63, _VALUE, _VALUE_TEXT), 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format(
        "uuid", _unless(lambda text: bool(_UUID.fullmatch(text)), "does not match the UUID format"), 70
    ),
    "byte": Format("byte", _unless(_is_base64, "invalid base64"), 84),
    "date": Format("date", _unless(_is_date, "invalid date"), 71),
    "datetime": Format("datetime", _unless(_is_datetime, "invalid datetime"), 71),
}


def _validate(form: Format, text: str) -> Optional:
    found = form.problems(text)
    return some(found) if found else NONE


def _constant(form: Format) -> Callable[[], Any]:
    return lambda: form


LIBRARY: Library = library(
    [
        *(
            row(f"format.{name}", f"format.{name}() -> namedformat", _constant(form))
            for name, form in FORMATS.items()
        ),
        row(
            "format-named",
            "format.named(string) -> optional(namedformat)",
            lambda name: some(FORMATS[name]) if name in FORMATS else NONE,
        ),
        row("format-validate", "namedformat.validate(string) -> optional(list(string))", _validate),
    ]
)

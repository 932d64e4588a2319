"""Documents to YAML that round-trips to the same documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from scheduler_core.formats.scalars import needs_quotes

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]
    """PyYAML's dumper without aliases, quoting strings that Kubernetes would not parse as strings."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _string(dumper: Any, text: str) -> Any:
    quoted = needs_quotes(text) or text in ("<<", "=")
    style = "'" if quoted else "|" if "\n" in text and text == text.strip() and text.isprintable() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _float(dumper: Any, number: float) -> Any:
    text = repr(number)
    return dumper.represent_scalar(
        "tag:yaml.org,2002:float", text if "." in text else text.replace("e", ".0e")
    )


_Dumper.add_representer(str, _string)
_Dumper.add_representer(float, _float)


def write_yaml(documents: Iterable[Any]) -> str:
    """Return the documents as one YAML stream, with keys in their own order, each document under ``---``."""
    text: str = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, explicit_start=True
    )
    return text

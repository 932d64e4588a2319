"""Names that visitors give themselves: text, never markup."""

from __future__ import annotations

import unicodedata

NAME = 40  # characters


def clean_name(name: str) -> str:
    """Return a name on one line, truncated, without control and direction characters."""
    kept = "".join(" " if char.isspace() else char for char in name)
    kept = "".join(char for char in kept if unicodedata.category(char) not in {"Cc", "Cf", "Co", "Cs", "Cn"})
    return " ".join(kept.split())[:NAME].strip()

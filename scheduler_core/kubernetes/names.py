"""Kubernetes' validation of names, label keys and label values, and suggestions for misspelt words.

Each check returns ``None`` if the text is valid, otherwise the violated rule as the end of a sentence.
Source: apimachinery's ``util/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from scheduler_core.kubernetes.integers import parse_int

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)

_NAME_RULE = "lower case letters, digits, '-' and '.', beginning and ending with a letter or digit"
_NAMESPACE_RULE = "lower case letters, digits and '-', beginning and ending with a letter or digit"
_VALUE_RULE = "letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"


def check_name(text: str) -> str | None:
    """Check an object's name: a DNS-1123 subdomain of at most 253 characters."""
    if len(text) > 253:
        return "must be at most 253 characters long"
    return None if _SUBDOMAIN.fullmatch(text) else f"must consist of {_NAME_RULE}"


def check_namespace(text: str) -> str | None:
    """Check a namespace's name: a DNS-1123 label of at most 63 characters."""
    if len(text) > 63:
        return "must be at most 63 characters long"
    return None if _LABEL.fullmatch(text) else f"must consist of {_NAMESPACE_RULE}"


@lru_cache(maxsize=4096)
def check_key(text: str) -> str | None:
    """Check a label's, taint's or annotation's key, or an extended resource's name: ``[prefix/]name``."""
    prefix, slash, name = text.rpartition("/")
    if slash and (len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)):
        return "must have a DNS name such as example.com before its '/'"
    if not name or len(name) > 63:
        return "must have a name of 1 to 63 characters" + (" after its '/'" if slash else "")
    return None if _QUALIFIED.fullmatch(name) else f"must consist of {_VALUE_RULE}"


def is_integer(text: str) -> bool:
    """Return whether the text is an integer of 64 bits, which Gt and Lt compare with."""
    return parse_int(text) is not None


@lru_cache(maxsize=8192)
def check_value(text: str) -> str | None:
    """Check a label's value: empty, or at most 63 characters."""
    if len(text) > 63:
        return "must be at most 63 characters long"
    return None if not text or _QUALIFIED.fullmatch(text) else f"must be empty or consist of {_VALUE_RULE}"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.7) -> str | None:
    """Return the known word closest to ``word``, or None."""
    if len(word) > 80:
        return None
    candidates = list(known)
    folded = {k.lower(): k for k in reversed(candidates)}
    import difflib

    found = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``: did you mean "x"?``, or an empty string."""
    suggestion = nearest(word, known)
    return f": did you mean {suggestion!r}?" if suggestion else ""

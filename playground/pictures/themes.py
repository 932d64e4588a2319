"""The colours of pictures: those of the pages' themes, by their names in ``static/css/tokens.css``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a theme as ``#rrggbb``, and the opacity of nodes on which the pod does not fit."""

    name: str
    bg: str
    panel: str
    line: str
    ink: str
    dim: str
    accent: str
    accent_text: str
    fail: str
    victim: str
    groups: tuple[str, ...]
    faint: float


DARK = Theme(
    name="dark",
    bg="#0d1016",
    panel="#141922",
    line="#2a3344",
    ink="#e8ecf4",
    dim="#a3afc2",
    accent="#7f8cff",
    accent_text="#a3adff",
    fail="#e39a1e",
    victim="#c76ba1",
    groups=(
        *("#4f7fe0", "#35a08a", "#bd8140", "#8f74d2", "#c2607c"),
        *("#5f93a8", "#8d9a3c", "#b06bb3", "#6b7fa8", "#a8705a"),
    ),
    faint=0.6,
)
LIGHT = Theme(
    name="light",
    bg="#f3f5f9",
    panel="#ffffff",
    line="#d8dee9",
    ink="#171e2c",
    dim="#4d5a70",
    accent="#5561e6",
    accent_text="#4450d4",
    fail="#e39112",
    victim="#b9578f",
    groups=(
        *("#4f7fe0", "#35a08a", "#c08a4a", "#8f74d2", "#c8687f"),
        *("#5f93a8", "#95a144", "#b06bb3", "#7286ad", "#b07a62"),
    ),
    faint=0.75,  # words have as much contrast then as in the dark
)
THEMES: Mapping[str, Theme] = {theme.name: theme for theme in (DARK, LIGHT)}

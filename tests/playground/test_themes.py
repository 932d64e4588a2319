"""The colours of pictures are those of the pages."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from playground.pictures.themes import THEMES
from tests.parts import REPOSITORY


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_has_the_pages_colours(name: str) -> None:
    """Every colour is the token of its name in the page's theme."""
    theme = THEMES[name]
    sheet = (REPOSITORY / "static/css/tokens.css").read_text("utf-8")
    block = re.search(rf'\[data-theme="{name}"\] \{{(.*?)\n\}}', sheet, re.DOTALL)
    assert block is not None
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))
    colours = {one.name.replace("_", "-"): getattr(theme, one.name) for one in fields(theme)}
    assert colours.pop("name") == name and 0 < colours.pop("faint") < 1
    assert colours.pop("groups") == tuple(tokens[f"g{group}"] for group in range(10))
    assert colours == {one: tokens[one] for one in colours}

"""Modules that a test imports by themselves, bundled with the components and packages that they import."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

from playground.serving import built
from tests.parts import REPOSITORY


@cache
def bundled(module: str) -> str:
    """Return a module of ``static/js`` with what it imports as one script."""
    esbuild = next(REPOSITORY.glob("node_modules/@esbuild/*/bin/esbuild"))
    options = [option for option in built.OPTIONS if option != "--splitting" and "-names" not in option]
    command = [str(esbuild), f"static/js/{module}", *options]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def served(page: Page, module: str) -> str:
    """Let a page have a module of ``static/js`` and what it imports; return the address for ``import()``."""
    address = f"/module-{Path(module).stem}.js"  # of the root: what is not bundled is imported as ./static/…
    answer = {"body": bundled(module), "content_type": "text/javascript"}
    page.route(f"**{address}", lambda route: route.fulfill(**answer))
    return address

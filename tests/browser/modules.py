"""Modules that a test imports by themselves, bundled with the components and packages that they import."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

from playground.serving import built
from tests.parts import REPOSITORY


@cache
def bundled(*modules: str) -> str:
    """Return modules of ``static/js`` with what they import as one script, which exports what they export."""
    esbuild = next(REPOSITORY.glob("node_modules/@esbuild/*/bin/esbuild"))
    options = [one for one in (*built.OPTIONS, *built.SPLIT) if one != "--splitting" and "-names" not in one]
    whole = "".join(f'export * from "./static/js/{module}";\n' for module in modules)
    command = [str(esbuild), *options]
    done = subprocess.run(command, cwd=REPOSITORY, input=whole, capture_output=True, text=True, check=True)
    return done.stdout


def served(page: Page, *modules: str) -> str:
    """Let a page have modules of ``static/js`` and what they import; return the address for ``import()``."""
    name = "-".join(Path(module).stem for module in modules)
    address = f"/module-{name}.js"  # of the root: what is not bundled is imported as ./static/…
    answer = {"body": bundled(*modules), "content_type": "text/javascript"}
    page.route(f"**{address}", lambda route: route.fulfill(**answer))
    return address

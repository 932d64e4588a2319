"""``serve``: open the workbench, with what it stores in the user's data folder."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playground.__main__ import main
from scheduler_core.cli.input_files import FILES, read_scenario

DATA = "PLAYGROUND_DATA_DIR"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"opened at once: {FILES}")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", default="", help="port to listen on (default: PORT, else 8000)")
    parser.add_argument("--data", metavar="DIR", help="the folder for everything that is stored")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C; ends the process."""
    if data := options.data or os.environ.get(DATA):
        os.environ[DATA] = str(Path(data).absolute())  # the programs run in another folder
    port = ("--port", options.port) if options.port else ()
    browser = () if options.no_browser else ("--browser",)
    with tempfile.TemporaryDirectory(prefix="podstep-") as folder:
        opened = _opened(options.files, Path(folder)) if options.files else ()
        main(["podstep", "serve", "--host", options.host, *port, *browser, *opened])
    return 0


def _opened(files: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Write files as one bundle; returns the option that opens it. Raises InputError."""
    file = folder / Path(files[0]).resolve().stem
    file.write_text(read_scenario(files).to_yaml(), encoding="utf-8")
    return "--open", str(file)

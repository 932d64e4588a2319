"""``serve``: open the workbench, with what it stores in the user's data folder."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from playground.__main__ import main

DATA = "PLAYGROUND_DATA_DIR"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
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
    main(["podstep", "serve", "--host", options.host, *port, *browser])
    return 0

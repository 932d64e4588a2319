"""The options of the equivalence cache, for every command that runs a scenario."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from scheduler_core.settings.settings import CACHE_MODES, Settings


def add_cache_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--cache`` and ``--audit``."""
    parser.add_argument("--cache", choices=CACHE_MODES, help="the rows that invalidate the equivalence cache")
    parser.add_argument(
        "--audit", action="store_true", help="check every cached answer against a fresh evaluation"
    )


def asks_for_cache(options: argparse.Namespace) -> bool:
    """Return whether an option is about the cache, which only v1.11 has."""
    return options.cache is not None or options.audit


def with_cache(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return the settings with the options applied."""
    if asks_for_cache(options):
        settings = replace(settings, names_v1_11=True)
    if options.cache is not None:
        settings = replace(settings, cache=options.cache)
    return replace(settings, audit=True) if options.audit else settings

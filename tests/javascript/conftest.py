"""What the application's own tests prepare, also for those whose pages are in Node."""

from tests.playground.conftest import files_are_looked_at_once, no_hurry, tables_are_emptied_directly

__all__ = ["files_are_looked_at_once", "no_hurry", "tables_are_emptied_directly"]

"""Faults that strike a running stack in the midst of a run: ``python -m tests.faults`` prints a table."""

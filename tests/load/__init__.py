"""The server under load, measured from outside: ``python -m tests.load SUBJECT``."""

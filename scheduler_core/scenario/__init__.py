"""Bundles: loading them, and the history of operations they describe."""

"""Schedulers, a package each, and what they share: extenders and the history of rules."""

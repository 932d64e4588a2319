"""Verbs that change a draft."""

"""The edits of a draft."""

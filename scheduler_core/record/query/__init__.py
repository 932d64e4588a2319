"""Questions about a run, as SQL over its tables, each answered by a bounded process."""

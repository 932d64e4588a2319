"""Services used by every process: the broker's transport, log context, counters, and storage outages."""

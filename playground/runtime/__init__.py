"""What every process relies on: the broker's transport, the log's context, counters, and storage outages."""

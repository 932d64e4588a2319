"""What waits to be sent to other servers. Rows are the truth; a worker looks for what is due."""

"""What a cluster answers to its operators: rows, each a sentence with its evidence and where to look."""

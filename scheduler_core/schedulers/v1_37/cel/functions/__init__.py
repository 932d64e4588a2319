"""Functions of the environment, one library a file."""

"""One scenario under several policies or cache modes."""

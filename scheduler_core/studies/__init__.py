"""Studies of a cluster: many cases are played, and the answer is rows, a verdict or a grid of figures."""

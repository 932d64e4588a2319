"""Reports of a review: a comparison or a scenario with its comments and a verdict, as one file."""

"""What the dump of a running cluster lacks, put back from its pods: owners, revisions, classes, volumes."""

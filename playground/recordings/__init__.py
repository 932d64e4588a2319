"""Recordings: the answers of a whole run in one HTML file, in which the workbench steps without a server."""

"""What forms and the generator make."""

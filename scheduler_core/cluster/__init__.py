"""The API server: the objects that are stored, and the controllers that write them."""

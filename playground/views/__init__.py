"""Pages. Each function names its template and the context it renders."""

"""Input and output of files: text to documents, documents to text, independent of their meaning."""

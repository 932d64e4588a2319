"""Files in and out: text to documents, documents to text. What a document means is decided elsewhere."""

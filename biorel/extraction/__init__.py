"""From a document to its relations."""

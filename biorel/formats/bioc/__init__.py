"""BioC, XML and JSON: the reader in `reader`, the writer in `writer`."""

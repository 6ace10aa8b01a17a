"""Readers and writers of file formats: each module converts one format to or from the records of biorel."""

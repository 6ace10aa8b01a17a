"""From annotated documents to labelled pairs and encoded examples."""

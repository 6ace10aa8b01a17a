"""Turns annotated documents into labelled pairs and encoded examples."""

"""Mentions into concepts: the lexicon of names, its index, and the linker."""

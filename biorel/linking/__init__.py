"""Maps mentions to concepts, with a lexicon of names, an index of the lexicon, and the linker."""

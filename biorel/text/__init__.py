"""Text into tokens and sentences, with the way back to characters."""

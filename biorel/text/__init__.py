"""Splitting text into sentences, words and tokens, each with its character offsets."""

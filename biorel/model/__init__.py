"""Tensors only: the network of BRAN (Verga, Strubell, McCallum 2018), its losses and its decision.

Shapes are written with one alphabet: B documents, T tokens, D width, P pairs, H and K head and tail units
(mentions or mention tokens), L tokens of a unit, N links (pairs of units), R relations with NULL, C BIO labels,
F features of a pair.
"""

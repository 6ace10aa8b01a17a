"""A knowledge graph, and how its triples are written into a sentence: K-BERT (Liu et al. 2020).

query.py      the entities of a text -> the branches that grow on them
tree.py       the sentence tree: tokens with branches; hard and soft positions, segments, visible matrix
support.py    what the graph's articles say of a pair, as numbers
inject.py     a document as the model reads it, with its branches as token ids
names.py      where the graph's names stand in a text
hierarchy.py  MeSH's tree as `is_a`, without circles
collect.py    relations of many articles -> triples that keep their articles
"""

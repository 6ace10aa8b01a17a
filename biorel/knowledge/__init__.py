"""MeSH, CTD, and the knowledge graph made of them, which K-BERT (Liu et al. 2020) writes into documents.

mesh, mesh_files              MeSH: trees, names, supplementary concepts
ctd, ctd_table                CTD's curated relations, as labels or as facts
ctd_vocabularies              CTD's names and alternate ids
known_pairs                   pairs of concepts from a user's table
hierarchy                     MeSH's tree as `is_a` edges, without circles
triples                       triples from MeSH and CTD, with their articles; the graph folder
graph                         the triples that are attached to the entities of a document (K-Query)
inject                        these triples as token ids of an example (K-Inject)
support                       the articles behind a pair, as numeric features

`model.branches` has K-BERT's soft positions and visible matrix; both are tested against the naive version in
`tests/knowledge/sentence_tree.py`.
"""

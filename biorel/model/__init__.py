"""BRAN (Verga, Strubell, McCallum 2018) as tensors only: no file format, no options, no command line.

The equations of the paper and the files that implement them:

    2.1    x_i = s_i + p_i                                      embedding.InputEmbedding
    2.2.1  a_ijh, o_ih, m_i: multi-head attention               transformer.Attention
    2.2.2  t_i^(0), t_i^(1), t_i^(2): convolutions              transformer.Convolutions
    2.2    b_i^(k): one block, and the stack of B blocks        transformer.Block, transformer.Transformer
    2.3    e_i^head, e_i^tail                                   heads.HeadTailMLP
    2.3    A_ilj: bi-affine pairwise scores                     heads.Biaffine
    2.4    scores(p^head, p^tail): log-sum-exp                  pooling.pool_mention_pairs
    2.5    c_i: entity types                                    bran.Bran.ner
    2.6    the likelihoods of relations and entity types        losses
    fig. 1 all of them from left to right                       bran.Bran

What the paper does not have: pair features (`heads.PairFeatures`), a reranker (`reranker`, `competing_pairs`), texts
longer than the learned positions (`windows`), a BERT as the encoder (`bert`), knowledge branches (`branches`, K-BERT),
ensembles (`ensemble`), masked pre-training (`masked`). Around the network: `checkpoint`, `device`, `onnx`.

Every shape uses one alphabet:

    B  documents                     P  entity pairs
    T  tokens                        M  mention pairs (pairs of a head span and a tail span)
    D  width                         R  relations, with NULL in column 0
    H  head spans of a document      C  BIO labels
    K  tail spans of a document      F  features of a pair
    L  tokens of a span

A span is one mention, or one token of a mention as in the paper (`BranConfig.span_pooling`). `branches` adds G branches
of knowledge a document, N tokens in all of them, and S = T + N.
"""

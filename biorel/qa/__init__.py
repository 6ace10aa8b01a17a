"""Question answering over abstracts: DGCNN (Su, 2018) and MaP (2021), from questions to ranked answer spans.

The reader is the network: an encoder, then a head.

Equations of DGCNN
    1, 2, 3, 9  gated dilated convolution, residual, noise on the gate   `gated_convolutions.GatedConvolution`
    4, 5        additive attention                                       `layers.AdditiveAttention`
    6           sinusoidal positions                                     `layers.sinusoidal_positions`
    7, 8        0/1 labels of starts and ends, scaled by a global score  `heads.LabelHead`
    -           the eight features of a word                             `features.word_features`
    -           score of a span from the scores of its two ends          `decoding.SPAN_SCORES`
    -           sum of squared scores over passages                      `biorel.scoring.vote`
Prediction strategies of MaP
    InD         start and end independently                              `heads.IndependentHead`
    VCP         end conditioned on the start distribution                `heads.VectorConditionalHead`
    MaP_F       probability matrix, start to end (equations 7 to 9)      `heads.MatrixForwardHead`
    MaP_E       ensemble of both directions                              `heads.MatrixEnsembleHead`

A new head is a class in `heads` and a line in `heads.HEADS`. A new encoder is a file like `separate_encoder` and a line
in `reader.ENCODERS`.

Flow: `questions` makes questions from pairs, or `retrieval` from what a user asks; `passages` turns them into token
windows with features, `batches` into tensors; `reader` scores spans, `prediction` collects them; `decoding` ranks them;
`answers` groups them over documents. `training`, `decoding_tuning` and `metrics` fit and measure a reader; `folder`
saves it.
"""

"""Examples into batches, batches into steps, and a trained network into scores.

batches, collate       which documents and pairs make up a step; their tensors
loop, optim            the training loop; the optimizer, learning rates and the average of the weights
checkpoint, events     a training run on disk, so that it can be resumed; its values for TensorBoard
relations, rerank      how a relation network is trained (section 2.6), and then its reranker
inference, evidence    the scores of a trained network, and the mention pairs behind them
evaluation             those scores compared with a dataset
examples, knowledge    the examples of a dataset as a model reads them, with knowledge branches where it has some
pretrain, masking      masked pre-training of the encoder
skipgram, vectors      pre-trained token vectors
bert                   starting from a pre-trained BERT
model_folder           the files of a trained model
"""

"""A question and passages into answer spans: DGCNN (2018) and MaP (2021)."""

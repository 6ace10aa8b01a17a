"""Examples into batches, batches into steps, a trained network into scores."""

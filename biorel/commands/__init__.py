"""One file per command: `run(config)` reads tables, calls the rooms above, writes one artifact."""

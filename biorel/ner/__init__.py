"""Documents into mentions: the taggers."""

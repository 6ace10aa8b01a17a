"""Named entity recognition: taggers, which turn documents into mentions."""

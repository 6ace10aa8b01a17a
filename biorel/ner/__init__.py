"""Named entity recognition: taggers find the mentions in documents."""

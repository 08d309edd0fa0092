"""What is known, found again: by words, by meaning, along the graph, and within a budget."""

"""Sessions: what happens in them is kept as it comes, learnt from, and promoted at their end."""

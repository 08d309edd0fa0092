"""Texts as vectors, by the model that comes with Recollect or another."""

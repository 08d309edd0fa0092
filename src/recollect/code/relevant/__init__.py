"""Which files, symbols and lines a text is about."""

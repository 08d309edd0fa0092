"""From a source file to what it says of itself, by tree-sitter, whatever its language."""

"""The way of a statement into the store: redaction, duplicates, contradictions, promotion."""

"""Words, tokens, redaction and file formats: functions of text alone."""

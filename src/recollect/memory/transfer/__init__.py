"""Export, import, and memories as files to edit by hand."""

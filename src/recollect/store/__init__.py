"""The record: one SQLite file a user, which bears crashes, crowds and wrong keys."""

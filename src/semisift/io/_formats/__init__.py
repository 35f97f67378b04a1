"""Formats of tables, one file each."""

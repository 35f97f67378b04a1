"""The papers: their tables, data sets and protocols, and what we find when we make them again."""

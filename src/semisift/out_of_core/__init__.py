"""Rows that stay on disk or on a cluster: read in blocks, never as a whole.

- sources.py: where rows can be: maps of memory, HDF5, zarr, Parquet, dask
- rows.py: `OutOfCoreMatrix`, the one door to them: blocks in order, some rows, finished passes
- statistics.py: what is known of each column after two passes
"""

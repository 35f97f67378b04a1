"""Rows that stay on disk or on a cluster: read in blocks, never as a whole.

- _sources.py: where rows can be: maps of memory, HDF5, zarr, Parquet, dask
- _matrix.py: `OutOfCoreMatrix`, the one door to them: blocks in order, some rows, finished passes
- _statistics.py: what is known of each column after two passes
"""

"""The functions of the kernels in numpy: they serve where nothing was compiled."""

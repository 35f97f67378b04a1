"""Pages of the site that follow from the code and from files elsewhere, made when it is built."""

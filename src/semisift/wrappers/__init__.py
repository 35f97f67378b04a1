"""Methods that search for the columns with which a classifier does best."""

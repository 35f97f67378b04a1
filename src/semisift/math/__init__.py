"""Pure functions on arrays that more than one method uses."""

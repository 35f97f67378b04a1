"""Methods that select while they train a model."""

"""Pure functions on arrays, texts and files that several packages use."""

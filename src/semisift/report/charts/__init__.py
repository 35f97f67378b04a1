"""The pictures: a module each, with `draw(ax, summary, style)` and what makes its summary."""

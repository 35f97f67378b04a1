"""The tools for those who work on the house."""

from tools.count_lines import count_code

MODULE = '''"""A module.

With words.
"""

import os  # why

# A comment.


class Room:
    """A room."""

    size = (
        1,
        2,
    )

    def enter(self):
        """Enter."""
        text = """two
        lines"""
        return text
'''


def test_docstrings_comments_and_blank_lines_are_not_code():
    assert count_code(MODULE) == 1 + 1 + 4 + 1 + 2 + 1
    assert count_code("") == 0

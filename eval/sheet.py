"""What judges said of a benchmark, small enough for a million rows.

CONTRACT ONLY, to be written.
"""


class Sheet:
    """Outcomes by example, comparison and order."""

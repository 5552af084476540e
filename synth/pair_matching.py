"""Which rows to leave out so that length does not tell which answer is grounded.

Every row kept whose grounded answer is longer gets a partner of its own whose other answer is
longer, by a ratio that is nearly the same: the logarithms of the two ratios differ by at most
`REACHES[-1]`. Rows of equal lengths need none. So of the rows kept as many are longer this way as
that way, at every ratio. Partners are sought near first, in rounds of growing reach: in one round
of the whole reach the more frequent side would always be the nearer to equal lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

REACHES = (0.00625, 0.0125, 0.025, 0.05, 0.1)


def unmatched(ratios: Sequence[float]) -> list[int]:
    """Which rows have no partner, by their places; a ratio is log(grounded / other length).

    Of rows of one ratio the first are the first to get one.
    """
    longer = sorted((at for at, ratio in enumerate(ratios) if ratio > 0), key=ratios.__getitem__)
    shorter = sorted((at for at, ratio in enumerate(ratios) if ratio < 0), key=lambda n: -ratios[n])
    for reach in REACHES:
        longer, shorter = _left(ratios, longer, shorter, reach)
    return sorted(longer + shorter)


def _left(
    ratios: Sequence[float], longer: list[int], shorter: list[int], reach: float
) -> tuple[list[int], list[int]]:
    """Both sides without those that are partners within reach: the most there can be."""
    left_longer, left_shorter = list[int](), list[int]()
    i = j = 0
    while i < len(longer) and j < len(shorter):
        apart = ratios[longer[i]] + ratios[shorter[j]]
        if abs(apart) <= reach:
            i, j = i + 1, j + 1
        elif apart < 0:
            left_longer.append(longer[i])
            i += 1
        else:
            left_shorter.append(shorter[j])
            j += 1
    return left_longer + longer[i:], left_shorter + shorter[j:]

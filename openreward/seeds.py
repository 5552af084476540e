"""Seeds of single uses, derived from a run's seed and a record's id; no global state is touched."""

from __future__ import annotations

import hashlib


def derive(seed: int, id: str, what: str) -> int:
    """A seed for one use of one record, in [0, 2**31)."""
    digest = hashlib.sha256(f"{seed}\0{id}\0{what}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big") >> 1

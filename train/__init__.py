"""Rewards and trainers; imported as openreward.train."""

if __name__ != "openreward.train":
    raise ImportError(f"import this package as openreward.train, not as {__name__}")

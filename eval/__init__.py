"""Benchmarks and reports; imported as openreward.eval."""

if __name__ != "openreward.eval":
    raise ImportError(f"import this package as openreward.eval, not as {__name__}")

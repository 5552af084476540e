"""Documents in, grounded-versus-ungrounded pairs out; imported as openreward.synth."""

if __name__ != "openreward.synth":
    raise ImportError(f"import this package as openreward.synth, not as {__name__}")

"""Search tools and what stands between them and the network; imported as openreward.tools."""

if __name__ != "openreward.tools":
    raise ImportError(f"import this package as openreward.tools, not as {__name__}")

"""Four scores of one answer, each by a pipeline of its own: LongReward (arXiv 2410.21252)."""

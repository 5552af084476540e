"""Engines behind one Protocol: an OpenAI-compatible endpoint, llama.cpp, a script."""

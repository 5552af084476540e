"""Engines behind one Protocol: an OpenAI-compatible endpoint, the embedded llama.cpp server, a script."""

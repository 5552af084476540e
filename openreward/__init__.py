"""Reward models that look things up before they judge."""

from pathlib import Path as _Path

__version__ = "0.1.0"

if __name__ != "openreward":
    raise ImportError(f"import this package as openreward, not as {__name__}")

# In a checkout the stages (tools, synth, train, eval) lie beside this folder, not in it.
_root = _Path(__file__).resolve().parent.parent
_project = _root / "pyproject.toml"
if _project.is_file() and 'name = "openreward-rm"' in _project.read_text(encoding="utf-8"):
    __path__.append(str(_root))

"""Where OpenReward keeps what it fetches and builds: `$OPENREWARD_HOME`, else ~/.cache/openreward.

<home>/models/<name>.gguf    local models
<home>/indexes/<source>/     local indexes, one per source
"""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder, which need not exist yet."""
    named = os.environ.get("OPENREWARD_HOME")
    if not named:
        return Path.home() / ".cache" / "openreward"
    return Path(os.path.expanduser(named))  # one of an unknown user stays as it is written


def model_files() -> list[Path]:
    """The local models, by name."""
    return sorted((home() / "models").glob("*.gguf"))


def index_folders() -> dict[str, Path]:
    """The local indexes: source -> folder."""
    return {path.name: path for path in sorted((home() / "indexes").glob("*")) if path.is_dir()}

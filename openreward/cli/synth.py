"""`openreward synth`: make data for judges. Each command has a module of its own."""

from __future__ import annotations

import typer

from openreward.cli.synth_answers import answers
from openreward.cli.synth_consensus import consensus
from openreward.cli.synth_corrupt import corrupt
from openreward.cli.synth_merge import merge
from openreward.cli.synth_pairs import pairs
from openreward.cli.synth_preferences import preferences
from openreward.cli.synth_scenarios import scenarios
from openreward.cli.synth_trajectories import trajectories

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _synth() -> None:
    """Make data for judges."""


app.command("answers")(answers)
app.command("consensus")(consensus)
app.command("corrupt")(corrupt)
app.command("merge")(merge)
app.command("pairs")(pairs)
app.command("preferences")(preferences)
app.command("scenarios")(scenarios)
app.command("trajectories")(trajectories)

"""Whether this run spreads over several machines, told from what launchers export."""

from __future__ import annotations

from collections.abc import Mapping

# Numbers of machines: SLURM, torchrun.
_NODES = ("SLURM_NNODES", "SLURM_JOB_NUM_NODES", "GROUP_WORLD_SIZE")
# Processes in all, and those on this machine: torch, Open MPI, MVAPICH, MPICH and Intel MPI.
_WORLDS = (
    ("WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_SIZE", "MPI_LOCALNRANKS"),
)


def several_nodes(environment: Mapping[str, str]) -> str | None:
    """What says that there are several machines, e.g. "SLURM_NNODES=2"; None where nothing does.

    Several processes of which none says how many are here count as several machines, unless
    another variable says that there is one.
    """
    one, doubtful = False, ""
    for name in _NODES:
        nodes = _number(environment, name)
        if nodes is not None and nodes > 1:
            return f"{name}={nodes}"
        one = one or nodes == 1
    for name, here in _WORLDS:
        world, local = _number(environment, name), _number(environment, here)
        if world is None or world <= 1:
            continue
        if local is None:
            doubtful = doubtful or f"{name}={world} without {here}"
        elif world > local:
            return f"{name}={world} with {here}={local}"
        else:
            one = True
    return None if one or not doubtful else doubtful


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

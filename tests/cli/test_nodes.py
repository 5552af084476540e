from __future__ import annotations

import pytest

from openreward.cli.nodes import several_nodes

ONE = {"WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "8"}


@pytest.mark.parametrize(
    "environment",
    [
        {},
        ONE,
        {"WORLD_SIZE": "1"},
        {"WORLD_SIZE": "two", "LOCAL_WORLD_SIZE": "1"},
        {"WORLD_SIZE": "", "SLURM_NNODES": ""},
        {"SLURM_NNODES": "1", "SLURM_JOB_NUM_NODES": "1"},
        {"SLURM_NNODES": "1", "WORLD_SIZE": "4"},  # srun on one machine
        {"GROUP_WORLD_SIZE": "1", **ONE},
        {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4", "PMI_SIZE": "4"},
        {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"},
    ],
)
def test_one_machine(environment: dict[str, str]) -> None:
    assert several_nodes(environment) is None


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (
            {"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"},
            "WORLD_SIZE=16 with LOCAL_WORLD_SIZE=8",
        ),
        ({"SLURM_NNODES": "2"}, "SLURM_NNODES=2"),
        ({"SLURM_JOB_NUM_NODES": " 4 "}, "SLURM_JOB_NUM_NODES=4"),
        ({"GROUP_WORLD_SIZE": "2", **ONE}, "GROUP_WORLD_SIZE=2"),
        (
            {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
            "OMPI_COMM_WORLD_SIZE=4 with OMPI_COMM_WORLD_LOCAL_SIZE=2",
        ),
        ({"PMI_SIZE": "2", "MPI_LOCALNRANKS": "1"}, "PMI_SIZE=2 with MPI_LOCALNRANKS=1"),
        ({"PMI_SIZE": "2"}, "PMI_SIZE=2 without MPI_LOCALNRANKS"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE=2 without LOCAL_WORLD_SIZE"),
        ({"SLURM_NNODES": "1", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"},
         "WORLD_SIZE=16 with LOCAL_WORLD_SIZE=8"),
    ],
)  # fmt: skip
def test_several_machines_are_told_by_what_says_so(environment: dict[str, str], said: str) -> None:
    assert several_nodes(environment) == said

"""The scripts of examples/ run, in the folder of the source."""

import runpy
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((SOURCE / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SOURCE)
    try:
        runpy.run_path(str(example), run_name="__main__")
    except SystemExit as end:
        assert not end.code


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3

"""What the tests of the package share."""

from pathlib import Path

import pytest

import abut

SOURCE = Path(__file__).resolve().parents[2]


@pytest.fixture
def scenes() -> Path:
    """The folder of the scenes that come with Abut."""
    return SOURCE / "assets" / "scenes"


@pytest.fixture
def slide(scenes: Path) -> abut.Scene:
    """A box that slides over a floor."""
    return abut.load(scenes / "box_slide.toml")


@pytest.fixture
def bounce(scenes: Path) -> abut.Scene:
    """A ball that bounces."""
    return abut.load(scenes / "sphere_bounce.toml")

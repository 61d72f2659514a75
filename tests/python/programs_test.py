"""Pictures by the programs."""

from pathlib import Path

import pytest

import abut
from abut import _programs


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="no_such_program"):
        _programs._program("no_such_program")


def test_the_viewer_is_started_on_the_run(
    slide: abut.Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "abut-view"
    words_file = tmp_path / "words"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {words_file}\ntest -s "$2"\n')
    program.chmod(0o755)
    monkeypatch.setattr(_programs, "_program", lambda name: str(program))
    run = slide.simulator().rollout(3)
    process = abut.view(run, options=["--paused"])
    assert process.wait() == 0
    words = words_file.read_text().split()
    assert words[0] == slide.path
    assert words[1].endswith(".npz")
    assert words[2:] == ["--paused"]
    assert not Path(words[1]).parent.exists()  # removed when the viewer ended


def test_the_files_of_the_viewer_outlive_python_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "abut-view"
    program.write_text('#!/bin/sh\nsleep 0.3\ntest -s "$1" && test -s "$2"\n')
    program.chmod(0o755)
    monkeypatch.setattr(_programs, "_program", lambda name: str(program))
    model = abut.Model("ball")
    model.add_body("ball", abut.sphere(0.1), density=100.0)
    process = abut.view(model.scene().simulator().rollout(2))
    del model
    assert process.wait() == 0


def test_snapshot_draws_a_picture_or_says_why_not(slide: abut.Scene, tmp_path: Path) -> None:
    run = slide.simulator().rollout(3)
    picture = tmp_path / "box.png"
    try:
        abut.snapshot(
            run, picture, width=64, height=48, camera_from=[1, -1, 1], camera_to=[0, 0, 0]
        )
    except (FileNotFoundError, RuntimeError) as error:
        pytest.skip(f"no renderer: {error}")
    assert picture.read_bytes().startswith(b"\x89PNG")

"""Scenes made in Python."""

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abut


def stack() -> abut.Model:
    model = abut.Model(
        "stack",
        time_step=0.001,
        steps=100,
        gravity=[0, 0, -9.81],
        contact={"activity_smoothing": 1e-4},
    )
    model.add_body("floor", abut.half_space(), friction=0.6)
    model.add_body(
        "box",
        abut.box([0.1, 0.1, 0.05], 0.005),
        mass=np.float64(2.0),
        position=np.array([0, 0, 0.05]),
    )
    model.add_body(
        "club",
        [abut.capsule(0.02, 0.1), abut.sphere(0.04, position=[0, 0, 0.1])],
        density=800,
        position=[0.5, 0, 0.5],
        rotation_vector=[0, 0.3, 0],
    )
    model.add_joint("nail", "ball", "club", position=[0.5, 0, 0.4])
    model.add_pair("floor", "box", friction=0.2)
    model.add_push("box", until=0.05, force=[4, 0, 0])
    return model


def test_a_model_is_the_scene_of_its_keys() -> None:
    scene = stack().scene()
    assert scene.name == "stack"
    assert scene.body_names == ["floor", "box", "club"]
    assert (scene.time_step, scene.steps) == (0.001, 100)
    assert scene.value("body.box.mass") == 2.0
    assert scene.value("pair.floor.box.friction") == 0.2
    run = scene.simulator(["pair.floor.box.friction"]).rollout(100, values=[[0.1], [0.3]])
    box = run.simulator.body("box")
    assert run.position[0, -1, box, 0] > run.position[1, -1, box, 0] > 0.0


def test_what_is_written_is_read_by_load(tmp_path: Path) -> None:
    model = stack()
    model.write(tmp_path / "stack.toml")
    assert (tmp_path / "stack.toml").read_text() == model.text()
    loaded, made = abut.load(tmp_path / "stack.toml"), model.scene()
    assert (
        loaded.simulator().rollout(20).position.tobytes()
        == made.simulator().rollout(20).position.tobytes()
    )


def test_errors_name_the_line_of_python() -> None:
    model = abut.Model("wrong")
    model.add_body("floor", abut.half_space())
    line = inspect.currentframe().f_lineno + 1
    model.add_body("ball", abut.sphere(0.1), mass=1.0, frictoin=0.3)
    with pytest.raises(
        abut.InputError, match=rf"model_test.py:{line}: .*did you mean 'friction'"
    ) as caught:
        model.scene()
    assert caught.value.file == __file__
    assert caught.value.line == line


def test_assets_are_found_from_the_current_folder(
    scenes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenes.parent)
    model = abut.Model().add_body("box", asset="bodies/box").add_body("floor", abut.half_space())
    assert model.scene().value("body.box.mass") > 0.0


def test_what_has_no_form_in_a_file_is_refused() -> None:
    with pytest.raises(TypeError, match="mass: <object"):
        abut.Model().add_body("ball", abut.sphere(0.1), mass=object()).scene()


def test_shapes_have_their_keys() -> None:
    assert abut.cylinder(0.1, 0.2, operation="subtract") == {
        "kind": "cylinder",
        "radius": 0.1,
        "half_length": 0.2,
        "operation": "subtract",
    }
    cone = abut.primitive("cone", radius=0.1, half_length=0.1)
    assert abut.Model().add_body("cone", cone, density=1000).scene().body_names == ["cone"]


@pytest.mark.parametrize(
    "name",
    [
        "a: b",
        'quo"te',
        "two\nlines",
        "Käfer",
        "日本",
        "😀",
        "a/b",
        "a.b",
        "..",
        "back\\",
        "\x7f",
        "x" * 300,
    ],
)
def test_any_name_is_written_and_read(name: str) -> None:
    model = abut.Model(name).add_body(name, abut.sphere(0.1), mass=2)
    scene = model.add_joint(name, "ball", name).scene()
    assert scene.name == name
    assert scene.body_names == [name]
    assert scene.value(f"body.{name}.mass") == 2.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", 'name = "", allowed: a string, not empty'),
        (5, "name = 5, allowed: a string, not empty"),
        ("nul\0", "contains the character U[+]0000"),
        ("\ud800", "name: '.ud800' cannot be written"),
    ],
)
def test_names_that_cannot_be_are_refused(name: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        abut.Model(name).add_body("ball", abut.sphere(0.1), mass=1).scene()
    with pytest.raises(ValueError, match=message):
        abut.Model().add_body(name, abut.sphere(0.1), mass=1).scene()


def test_errors_keep_their_message_whatever_the_name() -> None:
    line = inspect.currentframe().f_lineno + 1
    model = abut.Model("a: b").add_body("c: d", abut.sphere(0.1), mass=-1)
    with pytest.raises(
        abut.InputError, match=rf"^{re.escape(__file__)}:{line}: body\[0\].mass = -1, allowed: "
    ):
        model.scene()


def test_numbers_of_any_type_are_written() -> None:
    model = abut.Model(time_step=np.array(0.002), steps=np.array(7))
    model.add_body("ball", abut.sphere(np.float32(0.5)), mass=10**30, position=np.ones(3, np.int8))
    scene = model.scene()
    assert (scene.time_step, scene.steps) == (0.002, 7)
    assert scene.value("body.ball.mass") == 1e30
    for nothing in (1j, b"x", {1.0}, object(), np.array(1j)):
        with pytest.raises(TypeError, match="mass: .* is neither a number"):
            abut.Model().add_body("ball", abut.sphere(0.1), mass=nothing).text()


def test_shapes_are_primitives() -> None:
    for shape in (5, None, "sphere", [5]):
        with pytest.raises(TypeError, match="shape: .*, expected a primitive such as"):
            abut.Model().add_body("ball", shape)
    with pytest.raises(TypeError, match="primitive: given beside `shape`"):
        abut.Model().add_body("ball", abut.sphere(0.1), primitive=[abut.sphere(0.2)])


def test_arrays_are_those_at_the_time_of_the_call() -> None:
    model = abut.Model()
    position = np.zeros(3)
    for i in range(2):
        position[0] = 5.0 * i
        model.add_body(f"ball{i}", abut.sphere(0.1), mass=1, position=position)
    assert model.scene().simulator().state().position[:, 0].tolist() == [0.0, 5.0]

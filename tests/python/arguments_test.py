"""What a new user gets wrong: types, ranges, layouts, copies."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import abut


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: abut.load(5), "path: 5 of type int, expected a path"),
        (lambda s: abut.identify(None), "experiment: None of type NoneType, expected a path"),
        (lambda s: abut.identify("no.toml", threads="2"), "threads: '2' of type str"),
        (lambda s: abut.identify("no.toml", progress=5), "progress: 5 of type int"),
        (lambda s: abut.identify({5: 5}), "key: 5 of type int, expected a text"),
        (lambda s: abut.snapshot(5, "no.png"), "source: 5 of type int, expected a path"),
        (lambda s: s.rollout("5"), "steps: '5' of type str, expected an integer"),
        (lambda s: s.rollout(5.0), "steps: 5.0 of type float, expected an integer"),
        (lambda s: s.rollout(True), "steps: True of type bool, expected an integer"),
        (lambda s: s.rollout(5, worlds=2.0), "worlds: 2.0 of type float"),
        (lambda s: s.rollout(5, threads=None), "threads: None of type NoneType"),
        (lambda s: s.rollout(5, record="x"), "record: 'x' of type str, expected True or False"),
        (lambda s: s.rollout(5, values="0.3"), "values: '0.3' of type str, expected an array"),
        (lambda s: s.rollout(5, values=[[None]]), r"values: \[\[None\]\] of type list"),
        (lambda s: s.rollout(5, values=[[1j]]), r"values: \[\[1j\]\] of type list"),
        (lambda s: s.rollout(5, initial=5), "initial: 5 of type int, expected a State"),
        (lambda s: s.rollout(5, initial=np.zeros(3)), "initial: .* of type ndarray"),
        (lambda s: s.rollout(5, feedback=5, gains=[0] * 6), "feedback: 5 of type int"),
        (lambda s: s.rollout(5).gradient(threads="a"), "threads: 'a' of type str"),
        (lambda s: s.rollout(5).failure("a"), "world: 'a' of type str, expected an integer"),
        (lambda s: s.rollout(5).save(1), "path: 1 of type int, expected a path"),
        (lambda s: s.rollout(5).save("no.npz", "a"), "world: 'a' of type str"),
        (lambda s: s.step(5), "state: 5 of type int, expected a State"),
        (lambda s: s.step(s.rollout(5)), "state: .* of type Run, expected a State"),
        (lambda s: s.contacts(5), "state: 5 of type int, expected a State"),
        (lambda s: s.batch(2.5), "worlds: 2.5 of type float, expected an integer"),
        (lambda s: s.batch(2).failure("a"), "world: 'a' of type str"),
        (lambda s: s.batch(2).step("x"), "controls: 'x' of type str"),
        (lambda s: abut.Environment(5, 1), "simulator: 5 of type int"),
        (lambda s: abut.Simulator(5), "native: 5 of type int"),
    ],
)
def test_wrong_types_are_named(
    slide: abut.Scene, call: Callable[[abut.Simulator], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(slide.simulator(["body.box.friction"]))


def test_names_of_parameters_are_texts(slide: abut.Scene) -> None:
    with pytest.raises(TypeError, match="parameters: 'body.box.mass' .*expected a list of names"):
        slide.simulator("body.box.mass")
    with pytest.raises(TypeError, match="parameters: 5 of type int, expected a name"):
        slide.simulator([5])
    with pytest.raises(TypeError, match="name: 5 of type int, expected a text"):
        slide.value(5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 10**12}, "steps = 1000000000000, allowed: at most"),
        ({"steps": 5, "worlds": -1}, "-1 worlds"),
        ({"steps": 5, "worlds": 0}, "0 worlds"),
        ({"steps": 5, "threads": 10**12}, "threads = 1000000000000, allowed: at most"),
        ({"steps": 5, "values": []}, r"values: an array of shape \(0,\)"),
        ({"steps": 5, "values": [[1], [1, 2]]}, "values: .*inhomogeneous"),
        ({"steps": 5, "values": [[np.nan]]}, "'body.box.friction' = nan"),
        ({"steps": 5, "controls": np.zeros((1, 0, 2, 6))}, "controls: 0 steps of 5"),
        ({"steps": 5, "initial": {"position": np.full((2, 3), np.inf)}}, "position = .inf"),
        ({"steps": 5, "initial": {5: 1, "place": 1}}, "initial: there is no 5"),
        (
            {
                "steps": 5,
                "feedback": abut.PositionFeedback("box", [0, 0, np.nan]),
                "gains": [0] * 6,
            },
            "goal: .*nan.*, allowed: finite numbers",
        ),
    ],
)
def test_wrong_ranges_are_named(slide: abut.Scene, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slide.simulator(["body.box.friction"]).rollout(**arguments)


@pytest.mark.parametrize("world", [2, 5, -1, 2**31 - 1])
def test_a_world_that_does_not_exist_is_an_index_error(slide: abut.Scene, world: int) -> None:
    run = slide.simulator().rollout(2, worlds=2)
    with pytest.raises(IndexError, match=f"^world {world} of 2$"):
        run.failure(world)
    native = run._native.gradient([None] * 6, 0)
    for function in (run._native.failure, native.health, run.simulator.batch(2).failure):
        with pytest.raises(IndexError, match=f"^world {world} of 2$"):
            function(world)
    with pytest.raises(IndexError, match="^world 5 of 2$"):
        run.save("no.npz", 5)


def test_empty_paths_are_refused() -> None:
    with pytest.raises(ValueError, match="path: an empty path"):
        abut.load("")


def test_any_layout_of_numbers_is_taken(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    controls = np.zeros((2, 4, 2, 6))
    controls[1, :, 1, 3] = 2.0
    values = np.array([[0.25], [0.5]])
    run = simulator.rollout(4, values=values, controls=controls)
    frozen = controls.copy()
    frozen.setflags(write=False)
    wide = np.zeros((2, 4, 2, 12))
    wide[..., ::2] = controls
    for given in (np.asfortranarray(controls), frozen, wide[..., ::2], controls.astype(np.float32)):
        other = simulator.rollout(4, values=values.astype(np.float32), controls=given, threads=5000)
        assert np.array_equal(other.position, run.position)
    bar = np.random.default_rng(3).normal(size=run.position.shape)
    expected = run.gradient(position=bar).values
    assert np.array_equal(run.gradient(position=np.asfortranarray(bar)).values, expected)


def test_threads_of_python_share_a_simulator(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    expected = simulator.rollout(20, values=[[0.3]])
    last = simulator.step().position
    failures: list[str] = []

    def work() -> None:
        for _ in range(5):
            run = simulator.rollout(20, values=[[0.3]], threads=2)
            if not np.array_equal(run.position, expected.position):
                failures.append("rollout")
            if not np.array_equal(simulator.step().position, last):
                failures.append("step")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_never_changes_is_its_own_copy_and_is_not_pickled(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    for thing in (slide, simulator, simulator.state(), simulator.rollout(2)):
        assert copy.copy(thing) is thing
        assert copy.deepcopy(thing) is thing
        with pytest.raises(TypeError, match=f"a {type(thing).__name__} cannot be pickled; "):
            pickle.dumps(thing)
    environment = simulator.batch(2)
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Environment is neither copied nor pickled"):
            function(environment)


def test_gradients_models_and_errors_are_pickled(slide: abut.Scene) -> None:
    run = slide.simulator(["body.box.friction"]).rollout(5)
    gradient = run.gradient(position=np.ones(run.position.shape))
    for other in (pickle.loads(pickle.dumps(gradient)), copy.deepcopy(gradient)):
        assert np.array_equal(other.values, gradient.values)
        assert other.health == gradient.health
    model = abut.Model("one").add_body("ball", abut.sphere(0.1), mass=1)
    other = pickle.loads(pickle.dumps(model))
    assert other.text() == model.text()
    for function in (copy.copy, copy.deepcopy):
        copied = function(model).add_body("second", abut.sphere(0.1), mass=1)
        assert model.scene().body_names == ["ball"]
        assert copied.scene().body_names == ["ball", "second"]
    error = pickle.loads(pickle.dumps(abut.SimulationError("why", 1, 2, "too_deep")))
    assert (str(error), error.world, error.step, error.status) == ("why", 1, 2, "too_deep")


def test_the_time_of_a_state_is_not_that_of_a_rollout(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    later = simulator.step()
    run = simulator.rollout(2, initial=later)
    assert later.time > 0.0
    assert run.time[0, 0] == 0.0
    assert np.array_equal(run.position[0, 0], later.position)

"""Worlds that are stepped together, and the views on their state."""

import multiprocessing
import threading

import numpy as np
import pytest

import abut


def test_views_follow_the_worlds_without_a_copy(slide: abut.Scene) -> None:
    simulator = slide.simulator()
    environment = simulator.batch(3)
    position = environment.position
    address = position.ctypes.data
    assert position.shape == (3, 2, 3)
    assert not position.flags.writeable
    start = position.copy()
    for _ in range(5):
        environment.step()
    assert environment.position is position
    assert position.ctypes.data == address
    expected = simulator.rollout(5)
    assert np.array_equal(position, np.repeat(expected.position[:, 5], 3, axis=0))
    assert np.array_equal(environment.angular_velocity[1], expected.angular_velocity[0, 5])
    assert environment.steps.tolist() == [5, 5, 5]
    assert environment.time == pytest.approx([0.01] * 3)
    assert np.all(environment.contacts > 0)
    environment.reset()
    assert np.array_equal(position, start)


def test_controls_of_each_world_or_of_all(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(2)
    push = np.zeros((2, 2, 6))
    push[1, 1, 4] = 8.0
    for _ in range(10):
        environment.step(push)
    assert environment.linear_velocity[1, 1, 1] > environment.linear_velocity[0, 1, 1] + 0.01
    environment.reset()
    for _ in range(10):
        environment.step(push[1])
    assert np.array_equal(environment.linear_velocity[0], environment.linear_velocity[1])
    with pytest.raises(ValueError, match="controls"):
        environment.step(np.zeros((3, 2, 6)))


def test_reset_of_some_worlds_and_to_other_states(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(3)
    start = environment.position.copy()
    environment.step()
    moved = environment.position.copy()
    environment.reset(np.array([False, True, False]))
    assert np.array_equal(environment.position[1], start[1])
    assert np.array_equal(environment.position[0], moved[0])
    assert environment.steps.tolist() == [1, 0, 1]
    speed = np.zeros((3, 2, 3))
    speed[:, 1, 0] = [0.1, 0.2, 0.3]
    environment.reset(np.array([True, False, True]), linear_velocity=speed)
    assert environment.linear_velocity[:, 1, 0].tolist() == [0.1, 1.0, 0.3]
    with pytest.raises(ValueError, match="mask"):
        environment.reset(np.array([1, 0, 0]))


def test_a_world_that_fails_waits_for_its_reset(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(2)
    push = np.zeros((2, 2, 6))
    push[0, 1, 3] = np.nan
    environment.step(push)
    assert environment.failed.tolist() == [True, False]
    assert "body 'box'" in environment.failure(0)
    assert environment.failure(1) is None
    environment.step()
    assert environment.steps.tolist() == [0, 2]
    environment.reset(environment.failed)
    environment.step()
    assert environment.failed.tolist() == [False, False]


def test_memory_outlives_the_environment(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(2)
    position = environment.position
    environment.step()
    expected = position.copy()
    del environment
    assert np.array_equal(position, expected)


def test_threads_take_turns(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(4)

    def work() -> None:
        for _ in range(20):
            environment.step()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
        assert not worker.is_alive()
    assert environment.steps.tolist() == [60] * 4


def test_a_reset_that_is_refused_changes_nothing(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(2)
    environment.step()
    before = environment.position.copy()
    wrong = np.zeros((2, 2, 3))
    wrong[1, 1, 0] = np.nan
    with pytest.raises(ValueError):
        environment.reset(position=wrong)
    assert np.array_equal(environment.position, before)
    with pytest.raises(IndexError, match="world 5 of 2"):
        environment.failure(5)


def test_parent_and_child_go_on_after_a_fork(slide: abut.Scene) -> None:
    environment = slide.simulator().batch(4, threads=3)
    environment.step()
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work() -> None:
        for _ in range(5):
            environment.step()
        sender.send(environment.position.copy())

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    assert receiver.poll(60), "the child hangs"
    position = receiver.recv()
    child.join(timeout=60)
    assert child.exitcode == 0
    assert environment.steps.tolist() == [1] * 4
    for _ in range(5):
        environment.step()
    assert np.array_equal(position, environment.position)

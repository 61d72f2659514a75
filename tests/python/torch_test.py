"""The node of PyTorch's graph, where PyTorch is installed."""

import numpy as np
import pytest

import abut

torch = pytest.importorskip("torch")
abut_torch = pytest.importorskip("abut.torch")


def test_gradcheck_by_values_and_controls(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction", "body.box.linear_velocity.x"])
    values = torch.tensor([[0.3, 1.0], [0.5, 0.8]], dtype=torch.float64, requires_grad=True)
    push = torch.tensor(
        [0.2, 0.1], dtype=torch.float64, requires_grad=True
    )  # along x and y, on the box

    def last(values: torch.Tensor, push: torch.Tensor) -> torch.Tensor:
        floor, torque, lift = torch.zeros(6), torch.zeros(3), torch.zeros(1)
        controls = torch.stack([floor, torch.cat([torque, push, lift])])
        run = abut_torch.rollout(simulator, 20, values=values, controls=controls)
        return torch.cat(
            [run.position[:, -1, 1], run.linear_velocity[:, -1, 1], run.angular_velocity[:, 10, 1]]
        )

    assert torch.autograd.gradcheck(last, (values, push), eps=1e-6, rtol=1e-3, atol=1e-5)


def test_gradcheck_by_the_initial_state(bounce: abut.Scene) -> None:
    simulator = bounce.simulator()
    start = simulator.state()
    names = ("position", "orientation_wxyz", "linear_velocity", "angular_velocity")
    tensors = [torch.tensor(np.array(getattr(start, name)), requires_grad=True) for name in names]

    def states(*tensors: torch.Tensor) -> torch.Tensor:
        run = abut_torch.rollout(simulator, 10, initial=dict(zip(names, tensors)))
        return torch.cat([run.position[0, -1].flatten(), run.orientation_wxyz[0, -1].flatten()])

    assert torch.autograd.gradcheck(states, tensors, eps=1e-6, rtol=1e-3, atol=1e-5)


def test_tensors_share_the_memory_of_the_run(slide: abut.Scene) -> None:
    result = abut_torch.rollout(slide.simulator(), 3)
    assert result.position.data_ptr() == result.run.position.ctypes.data
    assert result.position.dtype == torch.float64


def test_one_vector_of_values_is_that_of_all_worlds(slide: abut.Scene) -> None:
    simulator = slide.simulator(["body.box.friction"])
    friction = torch.tensor([0.3], dtype=torch.float32, requires_grad=True)
    run = abut_torch.rollout(simulator, 20, values=friction, worlds=3)
    run.position[:, -1, 1, 0].sum().backward()
    alone = torch.tensor([0.3], dtype=torch.float32, requires_grad=True)
    abut_torch.rollout(simulator, 20, values=alone).position[0, -1, 1, 0].backward()
    assert friction.grad.item() == pytest.approx(3 * alone.grad.item(), rel=1e-5)
    assert alone.grad.item() < 0.0

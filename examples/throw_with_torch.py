"""The throw of throw_by_gradients.py, found by an optimiser of PyTorch."""

import sys

import abut

try:
    import torch

    import abut.torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(0)

STEPS, GOAL = 400, torch.tensor([1.5, 0.2, 0.4], dtype=torch.float64)  # [m]

model = abut.Model("throw", time_step=0.002)
model.add_body("floor", abut.half_space(), restitution=0.8, friction=0.4)
model.add_body(
    "ball", abut.sphere(0.05), density=500, restitution=0.8, friction=0.4, position=[0, 0, 1]
)
simulator = model.scene().simulator(["body.ball.linear_velocity"])
ball = simulator.body("ball")

velocity = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)  # [m/s]
optimiser = torch.optim.LBFGS([velocity], max_iter=60, line_search_fn="strong_wolfe")


def loss() -> torch.Tensor:
    optimiser.zero_grad()
    run = abut.torch.rollout(simulator, STEPS, values=velocity)
    value = (run.position[0, -1, ball] - GOAL).square().sum()
    value.backward()
    return value


optimiser.step(loss)
print(f"velocity {velocity.tolist()}, off by {loss().sqrt().item():.6f} m")
assert loss().item() < 1e-6

"""How must a ball be thrown that it bounces once and is at the goal after 0.8 s? Gauss-Newton's
method on exact gradients."""

import numpy as np

import abut

STEPS, GOAL = 400, np.array([1.5, 0.2, 0.4])  # [m]

model = abut.Model("throw", time_step=0.002)
model.add_body("floor", abut.half_space(), restitution=0.8, friction=0.4)
model.add_body(
    "ball", abut.sphere(0.05), density=500, restitution=0.8, friction=0.4, position=[0, 0, 1]
)
simulator = model.scene().simulator(["body.ball.linear_velocity"])
ball = simulator.body("ball")

velocity = np.array([1.0, 0.0, 1.0])  # [m/s]
for iteration in range(15):
    run = simulator.rollout(
        STEPS, values=velocity, worlds=3
    )  # one world for each coordinate of the end
    miss = run.position[0, -1, ball] - GOAL
    print(f"{iteration:2d}  velocity {np.round(velocity, 4)}  off by {np.linalg.norm(miss):.6f} m")
    if np.linalg.norm(miss) < 1e-6:
        break
    cotangent = np.zeros(run.position.shape)
    cotangent[:, -1, ball] = np.eye(3)
    jacobian = run.gradient(position=cotangent).values  # d(end)/d(velocity), (3, 3)
    step = -np.linalg.lstsq(jacobian, miss, rcond=None)[0]
    shorter = step * 0.5 ** np.arange(8)[:, None]  # a line search in eight worlds at once
    tried = (
        simulator.rollout(STEPS, values=velocity + shorter, record=False).position[:, -1, ball]
        - GOAL
    )
    velocity = velocity + shorter[np.argmin(np.linalg.norm(tried, axis=1))]

assert np.linalg.norm(miss) < 1e-4

"""Which feedback pushes a box over a rough floor to a goal? Its gains are found by gradients
through the contact.

A pusher on a rail touches the box from behind; the force on it follows its own position by a
proportional-derivative law. The loss is how far the box is from its goal, and how fast, at the end.
Adam's method runs from four guesses at once, a world each.
"""

import numpy as np

import abut

STEPS, GOAL = 500, np.array([0.3, 0.0, 0.05])  # 1 s; of the box [m]

model = abut.Model("push", time_step=0.002)
model.add_body("floor", abut.half_space(), friction=0.3)
model.add_body(
    "box", abut.box([0.06, 0.06, 0.05], 0.005), mass=0.5, friction=0.3, position=[0, 0, 0.05]
)
model.add_body("pusher", abut.sphere(0.03), mass=0.3, friction=0.3, position=[-0.12, 0, 0.05])
model.add_joint("rail", "slider", "pusher", axis=[1, 0, 0])
model.add_pair("floor", "pusher", collide=False)
simulator = model.scene().simulator()
box = simulator.body("box")
feedback = abut.PositionFeedback(
    "pusher", GOAL - [0.06 + 0.03, 0, 0]
)  # where it touches a box at the goal

gains = np.zeros((4, 6))  # stiffness x, y, z [N/m], damping x, y, z [N s/m]
gains[:, 0] = [8.0, 12.0, 16.0, 24.0]
gains[:, 3] = [1.0, 0.5, 2.0, 4.0]
mean, square = np.zeros_like(gains), np.zeros_like(gains)
for iteration in range(1, 61):
    run = simulator.rollout(STEPS, feedback=feedback, gains=gains)
    miss, speed = run.position[:, -1, box] - GOAL, run.linear_velocity[:, -1, box]
    loss = (miss**2).sum(axis=1) + 0.01 * (speed**2).sum(axis=1)
    if iteration % 20 == 1:
        print(f"{iteration:3d}  off by {np.round(1e3 * np.linalg.norm(miss, axis=1), 2)} mm")
    by_position, by_velocity = np.zeros(run.position.shape), np.zeros(run.linear_velocity.shape)
    by_position[:, -1, box], by_velocity[:, -1, box] = 2.0 * miss, 0.02 * speed
    slope = run.gradient(position=by_position, linear_velocity=by_velocity).gains
    mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
    step = mean / (1.0 - 0.9**iteration) / (np.sqrt(square / (1.0 - 0.99**iteration)) + 1e-12)
    gains = np.maximum(gains - 0.5 * step, 0.0)

best = np.argmin(loss)
print(f"best: stiffness {gains[best, 0]:.2f} N/m, damping {gains[best, 3]:.2f} N s/m, off by "
      f"{1e3 * np.linalg.norm(miss[best]):.2f} mm")  # fmt: skip
assert np.linalg.norm(miss[best]) < 0.01

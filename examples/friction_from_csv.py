"""Which friction does one recorded motion of a box tell, and how well?"""

import abut

start = {"body.box.linear_velocity": [-1.16, 0.711, 0], "body.box.angular_velocity": [0, 0, 3.182]}
start |= {"body.box.rotation_vector": [0, 0, -1.668], "body.box.force": [0.341, -1.81, 0]}
file = "assets/experiments/box_friction/motion_01.csv"
result = abut.identify(
    {
        "scene": "assets/experiments/box_friction/scene.toml",
        "unknown": [{"name": "body.box.friction", "initial": 0.6, "lower": 0.01, "upper": 2}],
        "motion": [{"file": file, "position_noise": 0.001, "rotation_noise": 0.01, "set": start}],
    }
)
print(result)
assert abs(result["body.box.friction"].value - 0.35) < 0.02  # the data were made with 0.35

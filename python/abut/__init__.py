"""Abut: differentiable rigid-body simulation with contact.

    import abut
    scene = abut.load("assets/scenes/box_slide.toml")
    simulator = scene.simulator(parameters=["body.box.friction"])
    run = simulator.rollout(steps=300, values=[[0.2], [0.3], [0.4]])
    run.position[:, -1, 1, 0]                  # where the box stops in each of the three worlds [m]

Units are SI, angles radians, quaternions wxyz, everything in the frame of the world. Arrays are of
float64. Those of results are views of the library's memory: read-only, and alive as long as any
view of them.
"""

from ._abut import InputError, __version__
from ._environment import Environment
from ._identification import Estimate, Goal, Identification, Verdict, identify, optimize
from ._model import Model, box, capsule, cylinder, half_space, primitive, sphere
from ._programs import snapshot, view
from ._rollout import Gradient, Health, Run, SimulationError, StateArrays
from ._scene import Contacts, Parameter, PositionFeedback, Scene, Simulator, State, load
from ._warnings import RunWarning

__all__ = [
    "Contacts",
    "Environment",
    "Estimate",
    "Goal",
    "Gradient",
    "Health",
    "Identification",
    "InputError",
    "Model",
    "Parameter",
    "PositionFeedback",
    "Run",
    "RunWarning",
    "Scene",
    "SimulationError",
    "Simulator",
    "State",
    "StateArrays",
    "Verdict",
    "__version__",
    "box",
    "capsule",
    "cylinder",
    "half_space",
    "identify",
    "load",
    "optimize",
    "primitive",
    "snapshot",
    "sphere",
    "view",
]

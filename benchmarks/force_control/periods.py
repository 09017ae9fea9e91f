"""The robot's control period, the Panda's."""

PERIOD_S = 0.001

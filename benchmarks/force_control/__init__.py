"""The force-control experiment of the ORC paper (section IV.B, Figure 4, Table II), with MuJoCo as the robot.

`benchmarks/force_control/run --help` tells what is measured and how.
"""

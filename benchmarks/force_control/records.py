"""What the robot notes of each period."""

import numpy as np

RECORD = np.dtype(
    [
        ("time_s", "<f8"),
        ("force_n", "<f8"),  # true contact force
        ("measured_n", "<f8"),  # what the controller was told
        ("gap_m", "<f8"),  # between plate and table
        ("silence_s", "<f8"),  # since the last command
        ("answer_us", "<f8"),  # from publishing the state to holding its command; nan: never held
        ("fresh", "?"),  # moved by the command that answers the state of this very period
        ("late_us", "<f8"),  # how late the period began
        ("made_up", "?"),  # a period that began too late to be lived, and was made up for
        ("overrun", "?"),  # made up for because a period before took too long, not because Linux woke the robot late
    ]
)

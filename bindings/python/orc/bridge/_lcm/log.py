"""Where this bridge logs."""

import logging

logger = logging.getLogger("orc.bridge.lcm")

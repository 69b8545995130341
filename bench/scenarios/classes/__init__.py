# SPDX-License-Identifier: Apache-2.0
"""All classes, in the order of the tables."""
from classes import (  # noqa: F401
    machines, gangs, shares, resources, limits, running, planted, values, places, coarse, mixtures)
from classes.registry import SCENARIOS  # noqa: F401

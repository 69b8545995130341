# SPDX-License-Identifier: Apache-2.0
"""The list of classes: a function (gpus, draw) -> Instance for each name."""
SCENARIOS = {}


def scenario(function):
    """Lists a class under the name of its function."""
    return register(function.__name__, function)


def register(name, function):
    assert name not in SCENARIOS, name
    SCENARIOS[name] = function
    return function

"""Whose skin a scene shows: a build by name, and sex, age and weight over it.

vitruvian run curl --set flesh=elements --set build=average --set sex=female --set age=60 --set weight=0.8
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import SkinShape
from vitruvian.anatomy.skin_data import AGE_YEARS, BUILDS
from vitruvian.errors import InputError
from vitruvian.world import Parameter

YOUNGEST = 15.0  # [years]: the skeleton is grown up


def shape_parameters(build: str = "muscular") -> dict[str, Parameter]:
    """The parameters of a scene that shows a body's skin, with its usual build."""
    return {
        "build": Parameter(build, "body shape", choices=tuple(BUILDS)),
        "sex": Parameter("build", "sex of the body shape", choices=("build", "female", "male")),
        "age": Parameter(0.0, "age of the body shape, 15 to 90; 0: the build's", "years", low=0.0, high=90.0),
        "weight": Parameter(-1.0, "build from 0, thin, to 1, stout; -1: the build's", low=-1.0, high=1.0),
    }


def skin_shape(parameters: Mapping[str, Any]) -> SkinShape:
    """The body shape that a scene's parameters ask for."""
    shape = BUILDS[parameters["build"]]
    if parameters["sex"] != "build":
        shape = replace(shape, sex=1.0 if parameters["sex"] == "male" else 0.0)
    if parameters["age"] != 0.0:
        if parameters["age"] < YOUNGEST:
            raise InputError(f"age: {parameters['age']:g} years; the skeleton is an adult's: 15 to 90, or 0")
        years, share = zip(*AGE_YEARS)
        shape = replace(shape, age=float(np.interp(parameters["age"], years, share)))
    if parameters["weight"] != -1.0:
        if parameters["weight"] < 0.0:
            raise InputError(f"weight: {parameters['weight']:g}; it goes from 0, thin, to 1, stout, or is -1")
        shape = replace(shape, weight=parameters["weight"])
    return shape

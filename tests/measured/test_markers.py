import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.measured import marker_sites, site_places
from vitruvian.measured.markers import needed, recognised
from vitruvian.skeleton import bone_poses


def test_names_of_several_laboratories_are_recognised():
    found, unknown = recognised(["Subject01:LASI", "r.asis", "V.Sacral", "L.Knee.Lat", "Banana", "R_HEEL"])
    assert found == {
        "Subject01:LASI": "LASI", "r.asis": "RASI", "V.Sacral": "SACR", "L.Knee.Lat": "LKNE", "R_HEEL": "RHEE",
    }  # fmt: skip
    assert unknown == ["Banana"]


def test_no_alias_means_two_sites():
    owner = {}
    for site in marker_sites().values():
        for word in (site.name, *site.aliases):
            plain = word.upper().replace(".", "").replace("_", "")
            assert owner.setdefault(plain, site.name) == site.name, word


def test_a_marker_set_without_a_pelvis_is_named():
    with pytest.raises(InputError, match=r"walk\.trc: the pelvis needs three of LASI.*this file has LASI, RASI"):
        needed("walk.trc", ["LASI", "RASI", "LKNE"])


def test_the_right_side_mirrors_the_left(body):
    names = [n for n in marker_sites() if n.startswith("L")]
    T = bone_poses(body.skeleton, body.default_q)

    def world(sites):
        bones, local = site_places(body, sites)
        return np.einsum("mij,mj->mi", T[bones, :3, :3], local) + T[bones, :3, 3]

    left, right = world(names), world(["R" + n[1:] for n in names])
    assert np.allclose(left * (-1.0, 1.0, 1.0), right, atol=1e-9)

"""Flesh in a skin from elsewhere: what is mended, what is refused."""

import warnings

import numpy as np
import pytest

from vitruvian.anatomy import Skin, body_flesh, body_skin, human
from vitruvian.errors import InputError
from vitruvian.mesh import sphere


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def skin(body):
    return body_skin(body, spacing=0.01)


@pytest.mark.parametrize("spacing", [0.06, -1.0, float("nan")])
def test_a_lattice_coarser_than_a_limb_is_refused_as_such(body, spacing):
    with pytest.raises(InputError, match="a forearm asks for 45 mm or less"):
        body_flesh(body, spacing=spacing)


def test_a_skin_that_is_crossed_or_inside_out_is_told_and_mended(body, skin):
    ball, faces = sphere(0.06, tuple(skin.vertices[np.argmax(skin.vertices[:, 2])]))
    crossed = Skin(
        np.concatenate([skin.vertices, ball]), np.concatenate([skin.faces, faces + len(skin.vertices)]), skin.spacing
    )
    with pytest.warns(UserWarning, match=r"\d{2,} pairs of triangles cross each other"):
        body_flesh(body, spacing=0.045, skin=crossed)
    with pytest.warns(UserWarning, match="turned outward"):
        turned = body_flesh(body, spacing=0.045, skin=Skin(skin.vertices, skin.faces[:, ::-1], skin.spacing))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = body_flesh(body, spacing=0.045, skin=skin)
    assert turned.model.lattice.n_cells == plain.model.lattice.n_cells


def test_a_skin_that_is_no_number_or_too_small_is_refused_by_name(body, skin):
    broken = skin.vertices.copy()
    broken[7] = np.nan
    with pytest.raises(InputError, match="skin: vertices must be finite"):
        body_flesh(body, spacing=0.045, skin=Skin(broken, skin.faces, skin.spacing))
    with pytest.raises(InputError, match=r"bones reach out of the skin: \w+ by at least \d"):
        body_flesh(body, spacing=0.045, skin=Skin(0.9 * skin.vertices, skin.faces, skin.spacing))

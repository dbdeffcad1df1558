import numpy as np
import pytest

from vitruvian.anatomy import tables
from vitruvian.anatomy.tables import load_corrections, load_tables, mirrored
from vitruvian.errors import InputError


def test_tables_have_the_published_counts():
    half = load_tables("printed")
    whole = mirrored(half)
    assert (len(half.bones), len(half.muscles)) == (54, 423)
    assert (len(whole.bones), len(whole.muscles)) == (77, 846)
    assert sum(b.mass for b in whole.bones.values()) == pytest.approx(86.6, abs=0.01)
    counts = {r: sum(m.region == r for m in whole.muscles.values()) for r in ("head_neck", "trunk", "arm", "leg")}
    assert counts == {"head_neck": 264, "trunk": 412, "arm": 82, "leg": 88}


@pytest.mark.parametrize("parameters", ["printed", "corrected"])
def test_every_path_is_as_long_as_its_tabulated_rest_length(parameters):
    for m in load_tables(parameters).muscles.values():
        path = np.array([p.position for p in m.points])
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(m.rest_length, abs=1.5e-3), m.name


def test_every_correction_has_a_reason_and_a_confidence():
    rows = load_corrections()
    assert len(rows) > 100
    for c in rows:
        assert len(c.reason) > 5, c
        assert c.confidence in ("high", "medium", "low"), c
        assert c.action in ("set", "drop", "add", "required", "keep", "note"), c


def test_printed_set_differs_only_where_corrections_say_so():
    printed, corrected = load_tables("printed"), load_tables("corrected")
    touched = {c.row.split(":")[0] for c in load_corrections() if c.action in ("set", "drop", "add")}
    for name, m in printed.muscles.items():
        other = corrected.muscles[name]
        same = m.strength == other.strength and m.passive == other.passive and len(m.points) == len(other.points)
        same = same and all(
            a.bone == b.bone and (a.position == b.position).all() for a, b in zip(m.points, other.points)
        )
        assert same or name in touched or m.group in touched, name


def test_right_side_is_the_mirror_image():
    whole = mirrored(load_tables())
    left, right = whole.bones["Hu_l"], whole.bones["Hu_r"]
    assert right.joint == pytest.approx(left.joint * (-1, 1, 1))
    assert right.inertia == pytest.approx(left.inertia * np.outer([-1, 1, 1], [-1, 1, 1]))
    elbow = whole.bones["Ul_r"].axes[0], whole.bones["Ul_l"].axes[0]
    assert elbow[0] == pytest.approx(elbow[1] * (1, -1, -1))


def test_unknown_parameter_set_is_refused():
    with pytest.raises(InputError, match="unknown parameter set 'best'"):
        load_tables("best")


def test_a_muscle_on_a_bone_that_does_not_exist_is_named(monkeypatch):
    real = tables._read

    def broken(name):
        rows = real(name)
        if name == "muscle_points.csv":
            rows[0]["bone"] = "Tail"
        return rows

    monkeypatch.setattr(tables, "_read", broken)
    with pytest.raises(InputError, match="muscle 'masseter_01' is attached to bone 'Tail', which does not exist"):
        load_tables("printed")

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import human
from vitruvian.errors import InputError
from vitruvian.measured import TrackSettings, Trial, analyse, site_places
from vitruvian.measured.curves import joint_angles
from vitruvian.measured.kinematics import Goals, PoseFitter, standing
from vitruvian.measured.proportions import Shapes
from vitruvian.measured.report import report_page
from vitruvian.measured.subject import found_size, placed, segment_lengths, start_pose, trial_goals
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.verify import _track_lab as made


def marker_trial(lab, stride, names=None):
    time, _, places = stride
    names = names or lab.MARKERS
    return Trial("made.c3d", "C3D", time, {n: places[:, lab.MARKERS.index(n)] for n in names})


def test_the_gradient_of_the_cost_is_that_of_finite_differences(body, stride):
    _, q, _ = stride
    fitter, s = PoseFitter(body), body.skeleton
    rng = np.random.default_rng(1)
    bones = np.array([s.index(b) for b in ("Fo_l", "Ha_r", "Sku")])
    turns = np.array([s.index(b) for b in ("T1", "Fe_r")])
    goals = Goals(
        ("a", "b", "c", "d", "e"), bones, rng.normal(0, 0.1, (3, 3)), rng.normal(0.5, 0.3, (1, 3, 3)),
        np.array([1.0, 0.5, 2.0]),
        turns, Rotation.random(2, rng=rng).as_matrix()[None], np.array([0.05, 0.02]),
    )  # fmt: skip
    pose = q[5].copy()
    pose[s.q_slice("Tfp_l")] = -0.3  # beyond its limit
    fitter.posture[6:] = 0.5  # strong enough to be seen
    fitter._equations(goals, 0, pose)
    gradient = -fitter._g.copy()
    for k in rng.choice(len(fitter.free), 40, replace=False):
        step = np.zeros(s.n_v)
        step[fitter.free[k]] = 1e-6
        rise = fitter._equations(goals, 0, integrate(s, pose, step)) - fitter._equations(
            goals, 0, integrate(s, pose, -step)
        )
        assert gradient[k] == pytest.approx(rise / 2e-6, rel=1e-4, abs=1e-6)


def test_a_known_motion_is_recovered_to_a_degree_with_noise_in_any_heading(lab, body, stride):
    time, q, places = stride
    turn = Rotation.from_euler("z", 140.0, degrees=True).as_matrix()
    noisy = places @ turn.T + (3.0, -2.0, 0.0) + np.random.default_rng(0).normal(0.0, 3e-4, places.shape)
    trial = Trial("made.c3d", "C3D", time, dict(zip(lab.MARKERS, np.moveaxis(noisy, 1, 0))))
    whole = human(feet="universal")
    scale, _ = found_size(PoseFitter(whole), trial_goals(trial, whole)[0])
    assert scale * 1.92 == pytest.approx(lab.HEIGHT, abs=0.005)
    fitter = PoseFitter(body)
    goals, unknown = trial_goals(trial, body)
    assert unknown == ()
    goals = placed(fitter, goals, start_pose(fitter, goals))
    fit = fitter.fit(goals, start_pose(fitter, goals))
    true, found = joint_angles(body, q), joint_angles(body, fit.q)
    off = {name: np.abs(true[name] - found[name]).max() for name in true}
    assert max(off.values()) < 1.0, off
    assert np.sqrt(np.mean(fit.distance**2)) < 2e-3
    lengths = segment_lengths(trial, goals, body, fit.q)
    assert set(lengths) == {"pelvis", "shank", "foot", "upper arm", "forearm"}
    assert all(theirs == pytest.approx(ours, abs=1e-3) for theirs, ours in lengths.values())


def test_a_trial_without_a_pelvis_is_named(lab, stride):
    names = [n for n in lab.MARKERS if n[1:] not in ("ASI", "PSI")]
    with pytest.raises(InputError, match="the pelvis needs three of"):
        analyse(marker_trial(lab, stride, names))


def test_lengths_in_a_wrong_unit_are_refused(lab, stride):
    trial = marker_trial(lab, stride)
    far = replace(trial, markers={n: 1000.0 * x for n, x in trial.markers.items()})
    with pytest.raises(
        InputError, match=r"would be 1.*e\+03 m tall; are the lengths of the file in the unit that it says"
    ):
        analyse(far, TrackSettings(muscles="none"))


def test_places_that_lie_flat_ask_for_the_vertical_axis(lab, stride):
    trial = marker_trial(lab, stride)
    flat = replace(trial, markers={n: x * (1.0, 1.0, 0.0) for n, x in trial.markers.items()})
    with pytest.raises(InputError, match="is the vertical axis right"):
        analyse(flat, TrackSettings(muscles="none"))


def test_unknown_and_mapped_markers(lab, body, stride):
    trial = marker_trial(lab, stride)
    odd = dict(trial.markers)
    odd["Hoofd"] = odd.pop("LFHD")
    odd["Banana"] = odd["C7"].copy()
    goals, unknown = trial_goals(replace(trial, markers=odd), body, {"Hoofd": "LFHD"})
    assert unknown == ("Banana",)
    assert "LFHD" in goals.names
    with pytest.raises(InputError, match="no marker site 'NOSE'"):
        trial_goals(trial, body, {"C7": "NOSE"})
    with pytest.raises(InputError, match="has no marker 'Hoofd'"):
        trial_goals(trial, body, {"Hoofd": "LFHD"})


def test_joints_stay_within_their_ranges(body):
    """A knee that is asked to bend forward stops near straight."""
    fitter, s = PoseFitter(body), body.skeleton
    T = bone_poses(s, fitter.standing)
    knee, ankle = s.index("Tfp_l"), s.index("Fo_l")
    goal = T[ankle, :3, 3] + (0.0, -0.25, 0.1)
    bones = np.array([s.index("Pel"), s.index("Fe_l"), knee, ankle])
    place = np.array([[T[s.index("Pel"), :3, 3], T[s.index("Fe_l"), :3, 3], T[knee, :3, 3], goal]])
    goals = Goals(("p", "h", "k", "a"), bones, np.zeros((4, 3)), place, np.array([100.0, 100.0, 100.0, 0.01]),
                  np.array([s.index("Fe_l")]), T[None, [s.index("Fe_l")], :3, :3], np.array([10.0]))  # fmt: skip
    q, _ = fitter.frame(goals, 0, fitter.standing, 100)
    assert np.degrees(q[s.q_slice("Tfp_l")][0]) > -6.5  # straight is at -5.5


def test_straight_elbows_and_knees_are_found(lab, body):
    s = body.skeleton
    q = standing(body)
    for side in "lr":
        q[s.q_slice(f"Ul_{side}")], q[s.q_slice(f"Tfp_{side}")] = np.radians(-17.0), np.radians(-5.0)
    bones, local = site_places(body, lab.MARKERS)
    place = lab.marker_places(body, q[None])
    none = np.zeros(0, np.int64)
    goals = Goals(lab.MARKERS, bones, local, place, np.ones(len(bones)), none, np.zeros((1, 0, 3, 3)), np.zeros(0))
    fit = PoseFitter(body).fit(goals, standing(body))
    for side in "lr":
        assert np.degrees(fit.q[0, s.q_slice(f"Ul_{side}")][0]) == pytest.approx(-17.0, abs=0.5)
        assert np.degrees(fit.q[0, s.q_slice(f"Tfp_{side}")][0]) == pytest.approx(-5.0, abs=0.5)


def test_the_size_of_somebody_who_lies_is_found(lab, body, stride):
    trial = marker_trial(lab, stride)
    lying = replace(
        trial, markers={n: x @ np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]) for n, x in trial.markers.items()}
    )
    tables = human(feet="universal")
    scale = found_size(PoseFitter(tables), trial_goals(lying, tables)[0])[0]
    assert scale == pytest.approx(body.scale, rel=0.005)


def test_what_is_met_worst_is_named_with_its_time(lab, stride):
    trial = marker_trial(lab, stride)
    a, b = trial.markers["LKNE"].copy(), trial.markers["LANK"].copy()
    a[20:24], b[20:24] = b[20:24].copy(), a[20:24].copy()
    swapped = replace(trial, markers={**trial.markers, "LKNE": a, "LANK": b})
    found = analyse(swapped, TrackSettings(muscles="none", height=lab.HEIGHT))
    (told,) = [r for r in found.remarks if r.startswith("met worst")]
    assert "LKNE" in told
    assert " at 0.2" in told
    assert "largest_reserve_nm" not in found.metrics
    assert not any("reaction" in p.band.quantity for p in found.peaks)


def test_rates_that_cannot_be_are_refused(lab, stride):
    with pytest.raises(InputError, match="rate must lie above 0"):
        analyse(marker_trial(lab, stride), TrackSettings(rate=float("inf")))


@pytest.fixture(scope="module")
def odd(lab):
    """A subject of other proportions than ours, and a known motion of it as a trial with noise."""
    body = lab.subject(odd=True)
    time, q = lab.stride(body, 0.4)
    places = lab.marker_places(body, q)
    places += np.random.default_rng(0).normal(0.0, 3e-4, places.shape)
    return body, q, Trial("odd.c3d", "C3D", time, dict(zip(lab.MARKERS, np.moveaxis(places, 1, 0))))


def test_the_length_of_every_segment_of_an_odd_subject_is_found(odd):
    body, q, trial = odd
    found = analyse(trial, TrackSettings(mass=74.0, muscles="none"))
    for name, factor in made.ODD.items():
        length = found.body.scale * found.subject.factors[name]
        assert length == pytest.approx(body.scale * factor, rel=0.005), name
    assert found.body.stature == pytest.approx(body.stature, abs=0.004)
    assert found.metrics["residual_rms_m"] < 1e-3
    true, got = joint_angles(body, q), joint_angles(found.body, found.fit.q)
    assert max(np.abs(true[name] - got[name]).max() for name in true) < 1.0
    plain = analyse(trial, TrackSettings(mass=74.0, muscles="none", proportions="ours"))
    assert plain.metrics["residual_rms_m"] > 10.0 * found.metrics["residual_rms_m"]
    assert not plain.subject.factors
    assert any("one scale for the whole body" in r for r in plain.remarks)
    page = report_page(found, 1.0)
    assert "<h2>Segments</h2>" in page
    assert f"{found.subject.factors['thigh']:.3f}" in page
    with pytest.raises(InputError, match="proportions 'theirs'"):
        analyse(trial, TrackSettings(proportions="theirs"))


def test_slopes_of_places_in_size_and_factors_are_those_of_finite_differences():
    whole = human(feet="universal")
    shapes = Shapes(whole)
    p, q = np.r_[0.05, np.linspace(-0.1, 0.1, len(made.ODD))], whole.skeleton.neutral_q()
    body = shapes.make(p)
    factors = dict(zip(shapes.names, np.exp(p[1:])))
    real = human(feet="universal", height=1.92 * np.exp(p[0]), proportions=factors).skeleton
    apart = [np.diff(bone_poses(s, q)[:, :3, 3], axis=0) for s in (body.skeleton, real)]
    assert np.allclose(*apart, atol=1e-12)
    slopes, _ = shapes.slopes(body, bone_poses(body.skeleton, q))
    for k in range(len(p)):
        step = 1e-6 * np.eye(len(p))[k]
        ends = [bone_poses(shapes.make(p + sign * step).skeleton, q)[:, :3, 3] for sign in (1.0, -1.0)]
        assert np.allclose((ends[0] - ends[1]) / 2e-6, slopes[:, :, k], atol=1e-7)


def test_segments_without_markers_keep_our_proportions_and_are_named(odd):
    _, _, trial = odd
    kept = ("ASI", "PSI", "KNE", "KNM", "ANK", "ANM", "HEE", "TOE")
    lower = replace(trial, markers={n: x for n, x in trial.markers.items() if n[1:] in kept})
    found = analyse(lower, TrackSettings(mass=74.0, muscles="none"))
    assert set(found.subject.unseen) == {"trunk", "shoulders", "upper arm", "forearm"}
    assert found.body.scale * found.subject.factors["thigh"] == pytest.approx(1.1 * 1.78 / 1.92, rel=0.01)
    assert any("keep our proportions: trunk, shoulders" in r for r in found.remarks)


def test_no_segment_follows_a_marker_of_another_name(odd):
    body, _, trial = odd
    swapped = {**trial.markers, "LKNE": trial.markers["LANK"], "LANK": trial.markers["LKNE"]}
    found = analyse(replace(trial, markers=swapped), TrackSettings(mass=74.0, muscles="none"))
    doubt = next(r for r in found.remarks if "far off any body" in r)
    assert doubt.endswith(": LANK, LKNE")
    for name in ("thigh", "shank"):
        assert found.body.scale * found.subject.factors[name] == pytest.approx(body.scale * made.ODD[name], rel=0.02)


def test_a_figure_with_joints_gives_its_own_lengths(walk):
    theirs, ours = walk.subject.lengths["thigh"]
    assert theirs == pytest.approx(ours, abs=1e-4)
    assert walk.subject.factors["thigh"] > 1.0 > walk.subject.factors["shank"]
    assert "trunk" in walk.subject.unseen

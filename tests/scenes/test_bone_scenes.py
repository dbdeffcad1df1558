"""The eight scenes of bones: each runs, passes its own checks, and notices when its physics is broken."""

import numpy as np
import pytest
import trimesh

import vitruvian.mesh.packages as packages
import vitruvian.systems.bones as bones
from vitruvian.errors import InputError, MissingExtra
from vitruvian.scenes import find
from vitruvian.world import Recording, run_world, scene_parameters

# Seconds that are long enough to say something and short enough to be run every time.
RUNS = {
    "pendulum": (5.0, {}),
    "beads": (3.0, {}),
    "beads driven, with friction": (1.0, {"motor": True, "friction": 0.2}),
    "globe": (1.0, {}),
    "globe in Lee's steps": (3.0, {"integrator": "euler", "substeps": 1}),
    "letters": (0.5, {}),
    "letters, two-sided": (0.3, {"two_sided": True}),
    "wave-surface": (1.0, {}),
    "knee": (1.0, {}),
    "knee-reach": (1.0, {}),
    "scapula": (0.4, {}),
}


SOLID = {"bodies", "stand", "wire", "beads", "planes", "coasts", "letters", "rollers", "ball", "axis", "seat", "target"}


def run(name, folder, seconds, settings):
    scene = find(name)
    parameters = scene_parameters(scene, "draft", settings)
    world = scene.build(parameters)
    result = run_world(world, folder / f"{name}.zarr", seconds=seconds, scene=name, parameters=parameters)
    return scene, parameters, Recording.open(result.recording)


@pytest.mark.parametrize("case", RUNS)
def test_scene_passes_its_own_checks_and_is_ready_to_be_shown(case, tmp_path):
    seconds, settings = RUNS[case]
    scene, parameters, recording = run(case.replace(",", "").split(" ")[0], tmp_path, seconds, settings)
    report = scene.check(recording, parameters)
    assert report.checks
    assert all(report.checks.values()), (report.checks, report.metrics)
    assert all(np.isfinite(value) for value in report.metrics.values())
    assert set(scene.qualities) == {"draft", "standard", "fine"}
    assert all(parameter.help for parameter in scene.parameters.values())
    assert recording.stage.cameras
    assert all(signal.unit and signal.title for signal in recording.stage.signals)
    for mesh in recording.stage.meshes:
        if mesh.layer in SOLID:
            assert trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).is_watertight, mesh.name


def test_pendulum_notices_wrong_gravity(tmp_path):
    scene, parameters, recording = run("pendulum", tmp_path, 5.0, {})
    report = scene.check(recording, {**parameters, "gravity": 9.75})
    assert not report.checks["period equals the elliptic integral"]


def test_beads_notice_wrong_accelerations(tmp_path, monkeypatch):
    true = bones.forward_dynamics
    monkeypatch.setattr(bones, "forward_dynamics", lambda *given: 1.01 * true(*given))
    scene, parameters, recording = run("beads", tmp_path, 1.0, {})
    assert not scene.check(recording, parameters).checks["energy within 0.1 %, work counted"]


def test_friction_takes_energy_and_all_of_it_is_booked(tmp_path):
    scene, parameters, recording = run("beads", tmp_path, 1.0, {"friction": 0.5})
    assert all(scene.check(recording, parameters).checks.values())
    assert recording.signals["work"][-1] < -0.1
    assert np.ptp(recording.signals["energy"][:, 3]) > 100.0 * np.ptp(recording.signals["balance"])


@pytest.mark.parametrize("name", ["knee", "knee-reach", "scapula"])
def test_scene_without_bone_surfaces_says_what_to_install(name, monkeypatch):
    scene = find(name)
    monkeypatch.setattr(packages, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"pip install --no-deps myo-sim==0\.2\.3"):
        scene.build(scene_parameters(scene, "draft", {}))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("pendulum", {"length": "-1"}),
        ("beads", {"beads": "2.5"}),
        ("globe", {"planes": "7"}),
        ("globe", {"integrator": "magic"}),
        ("wave-surface", {"amplitude": "1"}),
        ("knee", {"smoothing": "1.5"}),
        ("scapula", {"period": "0"}),
    ],
)
def test_impossible_parameter_is_refused(name, settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        scene_parameters(find(name), "draft", settings)


@pytest.mark.parametrize("word", ["V", "VX"])
def test_word_that_cannot_be_spelled_is_refused(word):
    scene = find("letters")
    with pytest.raises(InputError, match=r"two letters|unknown letter"):
        scene.build(scene_parameters(scene, "draft", {"word": word}))

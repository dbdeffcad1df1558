"""The air, the surfaces and the behaviours' files, each by itself; one short run of the whole trunk."""

import numpy as np
import pytest

from vitruvian.anatomy.face import make_face
from vitruvian.anatomy.trunk import breathing_human, crossing, strands
from vitruvian.breath import ATMOSPHERE, Lungs, airway, vertices
from vitruvian.breath.surface import volume, volume_gradient
from vitruvian.control import BreathDrive, Controls, Posture
from vitruvian.control.behaviour import (
    Behave,
    Behaviour,
    Curve,
    behaviour_names,
    blend,
    load_behaviour,
    read_behaviour,
    write_behaviour,
)  # fmt: skip
from vitruvian.control.behaviour.sound import laughter, synthesised
from vitruvian.control.face import expression
from vitruvian.control.posture import NECK
from vitruvian.couple import CavityPressure
from vitruvian.couple.cavity_fibres import keep_even, whole_fibres
from vitruvian.couple.cavity_solve import _product as product
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.systems import TorsoSystem
from vitruvian.systems.torso_fit import VOICED
from vitruvian.systems.torso_fit import _body as gestures
from vitruvian.world import World


@pytest.fixture(scope="module")
def trunk():
    return breathing_human()


@pytest.fixture(scope="module")
def torso(trunk):
    return TorsoSystem(trunk, skin=False, drawn=False, layers=(), books=True)


def test_shut_glottis_holds_the_air():
    assert airway.flow(1.1 * ATMOSPHERE * 2e-3, 2e-3, 1e-3, Lungs().airway, 0.0, 0.1) == 0.0


@pytest.mark.parametrize("glottis", [1.0, 0.3])
@pytest.mark.parametrize("pressure", [-3000.0, -20.0, 15.0, 5000.0])
def test_flow_satisfies_its_equation(glottis, pressure):
    k, v, h = Lungs().airway, 2.4e-3, 5e-3
    gas = (ATMOSPHERE + pressure) * v
    q = airway.flow(gas, v, h, k, glottis, 0.0)
    inside = (gas + h * ATMOSPHERE * q) / v - ATMOSPHERE
    assert k * q * abs(q) == pytest.approx(-(glottis**2) * inside, rel=1e-9)
    assert np.sign(q) == -np.sign(pressure)


def test_volume_gradient_is_that_of_the_volume(trunk):
    c = trunk.cavities
    p = vertices(c, c.rest, bone_poses(trunk.body.skeleton, trunk.body.default_q))
    for faces in (c.chest, c.belly):
        g = np.zeros_like(p)
        v = volume_gradient(faces, p, g)
        assert v == pytest.approx(volume(faces, p), rel=1e-12)
        way = np.random.default_rng(0).normal(size=p.shape)
        slope = (volume(faces, p + 1e-6 * way) - volume(faces, p - 1e-6 * way)) / 2e-6
        assert slope == pytest.approx(np.vdot(g, way), rel=1e-6)
    assert 4e-3 < c.chest_volume < 9e-3
    assert 8e-3 < c.belly_volume < 15e-3


def test_elements_are_many_and_cross(trunk):
    assert len(trunk.external) + len(trunk.internal) >= 500
    assert trunk.n_elements >= 1500
    assert 75.0 < np.median(crossing(strands())) < 105.0


def test_a_finer_belly_is_as_strong_and_as_stiff(trunk):
    """A line stands for a strip of muscle: what pulls on the rim and round the belly does not depend on the mesh."""
    pulls = []
    for t in (trunk, breathing_human(columns=72)):
        c, shape, table = t.cavities, t.shape, t.cavities.laws.table
        rim = c.in_group("diaphragm") & np.isin(c.ends[:, 0], shape.dome[0])
        rectus = c.in_group("upper rectus") & np.isin(c.ends[:, 0], shape.wall[0])
        oblique = c.in_group("external oblique") & np.isin(c.ends[:, 0], shape.wall[0])
        pulls.append([table[g, k].sum() for g in (rim, rectus, oblique) for k in (0, 2, 3)])
    assert pulls[1] == pytest.approx(pulls[0], rel=1e-9)
    assert pulls[0][0] == pytest.approx(480.0)  # [N], the whole diaphragm
    with pytest.raises(InputError, match="multiple of 24"):
        breathing_human(columns=32)


def test_a_surface_with_a_hole_is_refused(trunk):
    from dataclasses import replace

    with pytest.raises(InputError, match="belly is not closed"):
        replace(trunk.cavities, belly=trunk.cavities.belly[1:])


def test_rest_is_rest_and_a_pull_breathes_in(torso, trunk):
    world = World(torso, frame_rate=200.0)
    world.start()
    before = world.state.breath.volume
    for _ in range(20):
        world.step()
    assert abs(world.state.breath.volume - before) < 1e-9  # rest is a balance
    pull = Controls(breath=BreathDrive(0.2 * trunk.cavities.in_group("diaphragm")))
    first = world.state.breath.air.copy()
    flows = []
    for _ in range(60):
        torso.step(world.state, pull, world.time, 5e-3)
        flows.append(world.state.breath.flow)
    b = world.state.breath
    assert b.peaks[0] == max(flows)
    assert b.peaks[1] < 1e-3 * b.peaks[0]
    assert b.volume - before > 1.5e-4  # more than 0.15 l in 0.3 s
    assert abs(b.belly[1] / trunk.cavities.belly_volume - 1.0) < 2e-3
    assert b.air[0] - first[0] == pytest.approx(ATMOSPHERE * (b.air[3] - first[3]), rel=1e-12)
    work = world.state.book.work
    kinetic = 0.5 * float(trunk.cavities.mass @ (b.v**2).sum(axis=1))
    assert work["elements"] + work["belly"] + work["lungs"] + work["viscera"] == pytest.approx(
        work["cavity"] + kinetic, abs=1e-6
    )


def test_a_fibre_pulls_by_its_whole_length():
    fibre, rest = np.array([0, 0, 0, -1]), np.array([0.02, 0.01, 0.03, 0.01])
    length, rate = np.array([0.03, 0.009, 0.021, 0.012]), np.array([0.1, -0.2, 0.3, 0.4])
    stretch, whole, speed, tension = np.zeros((1, 3)), np.zeros(4), np.zeros(4), np.zeros((5, 4))
    whole_fibres(fibre, rest, length, rate, stretch, whole, speed)
    assert whole == pytest.approx([0.02, 0.01, 0.03, 0.012])  # in the mean the fibre is as long as at rest
    assert speed == pytest.approx([0.2 / 3.0, 0.1 / 3.0, 0.1, 0.4])
    keep_even(fibre, rest, length, rate, stretch, np.ones(4), tension)
    assert tension[0] @ rest == pytest.approx(0.0, abs=1e-12)  # no work where the fibre stretches evenly
    assert tension[0, 0] > 0.0 > tension[0, 1]
    assert (tension[:, 3] == 0.0).all()


def test_a_diaphragm_contracts_as_a_whole(torso, trunk):
    """Fully active against a shut glottis its fibres stay even, the dome comes to rest, and it presses and sucks."""
    c = trunk.cavities
    keys = ((0.0, 0.0), (0.6, 1.0))
    groups = ("diaphragm", "external intercostals", "scalenes")
    curves = [Curve(g, keys=keys, smooth=True) for g in groups]
    behave = Behave(trunk, Behaviour("", (*curves, Curve("closure", keys=((0.0, 1.0),)))))
    state = torso.start(np.random.default_rng(0))
    for n in range(240):
        torso.step(state, behave.act(None, state, 5e-3 * n, 5e-3), 5e-3 * n, 5e-3)
    p = vertices(c, state.breath.x, bone_poses(trunk.body.skeleton, state.q))
    length = np.linalg.norm(p[c.ends[:, 1]] - p[c.ends[:, 0]], axis=1)
    whole = c.fibres.fibre >= 0
    stretch = (length / c.fibres.rest_length)[whole].reshape(trunk.shape.columns, -1)
    assert np.ptp(stretch, axis=1).max() < 0.5
    assert np.abs(state.breath.v).max() < 0.05
    across = state.breath.belly[0] - state.breath.pressure  # the lung's volume hardly changes
    assert 4000.0 < across < 20_000.0


def test_what_a_body_does_as_it_laughs_hardly_presses_on_its_lungs(torso, trunk):
    """Head and clavicles move with the calls: with the glottis a quarter open by 30 Pa at most; a loud call: 1 kPa."""
    sound = laughter(synthesised(3), 16_000.0)
    behave = Behave(trunk, Behaviour("", (*gestures(sound, 1.0), Curve("closure", keys=((0.0, VOICED),)))))
    state, pressure, moved = torso.start(np.random.default_rng(0)), [], []
    for n in range(380):
        torso.step(state, behave.act(None, state, 5e-3 * n, 5e-3), 5e-3 * n, 5e-3)
        pressure.append(state.breath.pressure)
        moved.append(np.abs(state.q - torso.q0).max())
    assert max(moved) > 0.01
    assert np.abs(pressure).max() < 30.0


def test_a_trunk_refuses_what_is_not_its_own(torso):
    state = torso.start(np.random.default_rng(0))
    with pytest.raises(InputError, match="elements"):
        torso.step(state, Controls(breath=BreathDrive(np.zeros(3))), 0.0, 5e-3)
    with pytest.raises(InputError, match="root_force"):
        torso.step(state, Controls(root_force=np.zeros(6)), 0.0, 5e-3)
    with pytest.raises(InputError, match="from 0 to 1"):
        BreathDrive(np.full(3, 2.0))


# --- behaviours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", behaviour_names())
def test_every_file_reads_and_writes(name):
    behaviour = load_behaviour(name).check(8.0)
    again = read_behaviour(write_behaviour(behaviour), "again", name)
    for time in (0.3, 1.5, 1.77, 3.1):
        assert again.at(time) == pytest.approx(behaviour.at(time), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[curve]]\ngroup = "diafragm"\n', "line 2: unknown group 'diafragm'; did you mean diaphragm"),
        ('about = "x"\n[[curve]]\ngroup = "abdomen"\nshape = "wave"\namplitude = 2\n', "line 5: .*from 0 to 1"),
        (
            '[[curve]]\ngroup = "abdomen"\nshape = "sine"\nmean=0.2\namplitude=0.1\nstart = 3\nend = 2\n',
            "line 7: .*ends",
        ),
        ('[[curve]]\ngroup = "abdomen"\nforce = 3\n', "line 3: unknown key 'force'"),
        ('[[curve]]\ngroup = "abdomen"\nperiod = "long"\n', "line 3: period must be a number"),
        ('[[curve]]\ngroup = "yoy"\n', "line 2: unknown group 'yoy'; did you mean joy"),
        ('[[curve]]\ngroup = "AU99"\nkeys = [[0, 1]]\n', "line 2: unknown group 'AU99'"),
        ('[[curve]]\ngroup = "LRAU12"\nkeys = [[0, 1]]\n', "line 2: unknown group 'LRAU12'"),
        ('[[curve]]\ngroup = "AU26"\nkeys = [[0, 2]]\n', "line 3: AU26 reaches 2; an intensity is from 0 to 1"),
        ("[breath]\nrate = 0\n", "line 2: a breath needs a rate"),
        ("[breath]\nrate = 15\ndiaphragm = 2\n", "line 3: diaphragm reaches 2"),
        ("curves = 3\n", "line 1: unknown key"),
        ("about = 1\n", "nothing happens"),
        ("[[curve\n", "x.toml"),
        ('[[curve]]\ngroup = "abdomen"\namplitude = 0.3\n', "line 1: keys are missing; or give another shape"),
        ("curve = [1, 2]\n", "line 1: curves are written as"),
        ("breath = 3\n", "line 1: a breath is written as"),
        ("[breath]\nrate = 15\ndiaphragm = 0.1\n[marks]\ncalls = 3\n", "line 5: calls must be a list of times"),
        (
            '[[curve]]\ngroup = "abdomen"\nshape = "wave"\nwindows = [[1, 2]]\n',
            r"line 4: windows must be lists of \[start, end, ease\]",
        ),
    ],
)
def test_bad_files_name_the_line(text, said):
    with pytest.raises(InputError, match=said):
        read_behaviour(text, "x.toml", "x")


def test_sums_beyond_one_are_refused():
    curve = Curve("abdomen", "wave", 0.7)
    with pytest.raises(InputError, match="abdomen reaches"):
        Behaviour("twice", (curve, curve)).check(2.0)


def test_curves_compose_and_blend():
    calm = load_behaviour("calm")
    assert calm.later(1.0).at(2.0) == pytest.approx(calm.at(1.0))
    assert calm.times(0.5).at(1.0)["diaphragm"] == pytest.approx(0.05)
    laugh = load_behaviour("laugh").later(1.0)
    both = blend(calm, laugh, 4.0, 1.0)
    for again in (both, read_behaviour(write_behaviour(both), "again", "x"), both.later(2.0)):
        moved = 2.0 if again.curves[0].start == 2.0 else 0.0
        for time, one in ((0.3, calm), (1.0, calm), (3.4, calm), (4.6, laugh), (5.3, laugh)):
            said, wanted = again.at(time + moved), one.at(time)
            for group in both.at(time):  # what one leaves out is 0: closure, spine and clavicles of the laugh before
                assert said[group] == pytest.approx(wanted.get(group, 0.0), abs=1e-6), (time, group)
        half = {g: 0.5 * (calm.at(4.0).get(g, 0.0) + laugh.at(4.0).get(g, 0.0)) for g in both.at(4.0)}
        assert again.at(4.0 + moved) == pytest.approx(half, abs=1e-6)


class Noted:
    """Stands in for a face's driver: keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def start(self):
        return "face"

    def step(self, face, units, dt):
        self.asked.append((dict(units), dt))


def test_a_behaviour_moves_the_face(trunk):
    joy = Behaviour("joy", (Curve("joy", keys=((0.0, 0.5),)), Curve("AU6", keys=((0.0, 0.3),)),
                            Curve("RAU2", keys=((0.0, 0.2), (1.0, 0.2)))))  # fmt: skip
    driver = Noted()
    behave = Behave(trunk, joy.check(2.0), driver)
    own = behave.start(np.random.default_rng(0))
    for n in range(10):
        controls = behave.act(own, None, n * 5e-3, 5e-3)
    assert controls.told["face"] == "face"
    assert len(driver.asked) == 3  # at 0, 20 and 40 ms
    units, dt = driver.asked[-1]
    assert dt == pytest.approx(0.02)
    assert units["AU12"] == pytest.approx(0.5 * expression("joy")["AU12"])
    assert units["AU6"] == pytest.approx(0.5 * expression("joy")["AU6"] + 0.3)
    assert units["RAU2"] == pytest.approx(0.2)
    assert "face" not in Behave(trunk, joy).act(None, None, 0.0, 5e-3).told


def test_jaw_and_head_go_with_the_calls_of_a_laugh():
    laugh = load_behaviour("laugh")
    assert np.isfinite(laugh.seconds)
    time = np.arange(1.7, 5.0, 0.01)
    for group in ("AU27", "head"):
        found = np.array([laugh.at(t)[group] for t in time])
        slow = np.convolve(found, np.ones(20) / 20, "same")
        beats = np.abs(np.fft.rfft((found - slow)[20:-20]))
        rate = np.fft.rfftfreq(len(time) - 40, 0.01)[np.argmax(beats)]
        assert rate == pytest.approx(5.0, abs=0.3), group


def test_a_head_nods_whole_on_a_neck_of_sections():
    sections = breathing_human(spine="sections")
    for body in (breathing_human().body, sections.body):
        s = body.skeleton
        shares = Posture.of(body, body.default_q, np.zeros(s.n_v)).nod
        assert shares.sum() == pytest.approx(1.0)
        assert all(shares[s.v_slice(name)].sum() == 0.0 for name in s.names if name not in NECK)


def test_a_torso_with_a_face_tells_the_forces_of_its_muscles(trunk):
    lines = [TorsoSystem(trunk, skin=False, layers=(), face=face).stage().lines for face in (None, make_face())]
    assert all(any(line.name == "muscles" and line.pulls for line in found) for found in lines)


def test_a_shaken_head_nods(torso, trunk):
    """Let go out of line, the head swings back, and breath hardly minds."""
    s = trunk.body.skeleton
    state, skull = torso.start(np.random.default_rng(0)), s.index("Sku")
    push = np.zeros(s.n_v)
    found = []
    for n in range(240):
        push[s.v_slice("C7").start] = 3.0 if n < 40 else 0.0  # [N m] forward, for 0.2 s
        torso.step(state, Controls(torque=push), n * 5e-3, 5e-3)
        pose = bone_poses(s, state.q)[skull]
        found.append(np.arctan2(-pose[1, 2], pose[2, 2]))
    angle = np.array(found) - found[0]
    assert 0.01 < np.abs(angle).max() < 0.3
    assert np.abs(angle[-20:]).max() < 0.1 * np.abs(angle).max()
    assert abs(state.breath.volume / torso.start(np.random.default_rng(0)).breath.volume - 1.0) < 0.02


def test_bones_and_points_are_solved_exactly_in_few_rounds(torso, trunk):
    """A z = r holds for the whole system, and the strips' factor is that of the strips' own matrix."""
    world = World(torso, Behave(trunk, load_behaviour("calm")), frame_rate=200.0)
    world.start()
    while world.time < 0.4:
        world.step()
    state, w = world.state, torso.scratch
    assert w.iterations < 50  # 3 x 3 blocks of single points need about 60
    cavity = CavityPressure(w, state.breath, tolerance=1e-10)
    system = torso.stepper.assemble(state.q, state.v, state.activation, 5e-3, (cavity,))
    matrix = np.tril(system.matrix) + np.tril(system.matrix, -1).T
    right = np.random.default_rng(0).normal(size=len(matrix))
    cavity.resolve(system.matrix.copy(), right, 5e-3)
    z, y = w.gained.copy(), np.zeros(w.size)
    last = trunk.cavities.plate_bone
    product(w.chains, system.screws, trunk.cavities.carried, w.pos, state.breath.x[-1], last, matrix,
            trunk.cavities.mass, w.lines, w.g, cavity.weight, z, w.moved, y)  # fmt: skip
    assert np.abs(y - w.right).max() < 1e-6 * np.abs(w.right).max()


def test_scalenes_are_driven_by_their_own_group(trunk):
    chosen = np.array([n.startswith("scalenes") for n in trunk.body.muscles.names])
    excitation = Behave(trunk, load_behaviour("calm")).act(None, None, 1.0, 5e-3).excitation
    assert chosen.sum() == 28
    assert np.allclose(excitation[chosen], 0.05)


def test_groups_reach_their_elements(trunk):
    behave = Behave(trunk, load_behaviour("cough"))
    controls = behave.act(None, None, 1.4, 2e-3)
    assert controls.breath.glottis == pytest.approx(0.0)
    assert controls.breath.elements[trunk.cavities.in_group("transversus")].min() == pytest.approx(1.0)
    assert controls.excitation[trunk.internal].min() == pytest.approx(1.0)
    assert controls.excitation[trunk.external].max() == 0.0

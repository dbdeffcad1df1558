import csv

import numpy as np

from vitruvian.exchange import export_recording


def test_every_signal_and_pose_reads_back_to_the_same_bits(recording, tmp_path):
    export_recording(recording, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads[:4] == ["time [s]", "angle, inner [rad]", "force.x [N]", "force.y [N]"]
    assert heads[4:12] == [
        *(f"left femur.{p}" for p in ("x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz")),
        "2nd/body.x [m]",
    ]
    table = np.array(rows, dtype=float)
    assert np.array_equal(table[:, 0], recording.time)
    assert np.array_equal(table[:, 1], recording.signals["angle, inner"])
    assert np.array_equal(table[:, 2:4], recording.signals["force"])
    assert np.array_equal(table[:, 4:], [frame.poses.ravel() for frame in recording.frames])

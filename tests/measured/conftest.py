"""Bodies and trials that several tests share."""

import pytest

from vitruvian.exchange import read_trial
from vitruvian.measured import TrackSettings, analyse
from vitruvian.verify import _track_lab as made


@pytest.fixture(scope="session")
def lab():
    """The made-up laboratory."""
    return made


@pytest.fixture(scope="session")
def body():
    return made.subject()


@pytest.fixture(scope="session")
def stride(body):
    """Time, poses and markers of a known motion."""
    time, q = made.stride(body, 0.4)
    return time, q, made.marker_places(body, q)


@pytest.fixture(scope="session")
def walk():
    """The package's own walk, analysed at a low rate."""
    return analyse(read_trial("walk"), TrackSettings(rate=40.0, cycle=True))

import pytest

from vitruvian.errors import InputError
from vitruvian.exchange import export_recording
from vitruvian.exchange.export import RECORDING_WRITERS


@pytest.mark.parametrize("name", ["a.docx", "a", "a.png"])
def test_an_unknown_suffix_is_told_the_known_ones(recording, tmp_path, name):
    with pytest.raises(InputError, match=r"\.csv, \.glb") as caught:
        export_recording(recording, tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".csv", ".glb"])
def test_a_folder_that_is_not_there_is_one_clear_line(recording, tmp_path, suffix):
    with pytest.raises(InputError, match=r"cannot write .*there is no folder"):
        export_recording(recording, tmp_path / "none" / f"a{suffix}")


def test_every_writer_in_the_table_exists():
    from importlib import import_module

    for where in RECORDING_WRITERS.values():
        module, _, name = where.partition(":")
        assert callable(getattr(import_module(module), name))

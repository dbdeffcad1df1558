"""The command line: `vitruvian scenes | run | sweep | track | laugh | view | share | render | export | info | verify |
bench | prepare | doctor | train | character | search`.

Results go to stdout, progress and remarks to stderr. `--json` prints one JSON object as the last line of stdout. Exit
status: 0 good; 1 a check or case failed, or a run had to end; 2 bad input, said in one line; 130 interrupted.

Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from vitruvian import __version__
from vitruvian.cli import (
    binding,
    characters,
    doctoring,
    laughing,
    looking,
    preparing,
    proving,
    running,
    sweeping,
    tracking,
    training,
)
from vitruvian.cli.interruption import Interrupted, telling
from vitruvian.cli.output import complain, print_json
from vitruvian.errors import RunFailed, VitruvianError

BAD_INPUT, INTERRUPTED = 2, 130
# The base of typer's own complaints about arguments, wherever the installed version keeps it.
Complaint: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="vitruvian",
    help="A biomechanical virtual human: bones, muscles, flesh and water, simulated, recorded and shown.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # units stand in brackets
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `vitruvian` command, which says itself that kernels are compiled."""
    logging.getLogger("vitruvian.kernels").setLevel(logging.ERROR)
    sys.exit(invoke(sys.argv[1:] if arguments is None else list(arguments)))


def invoke(arguments: list[str]) -> int:
    """Run one command; returns the exit status. Warnings become one line each, told once."""
    with warnings.catch_warnings():
        told: set[str] = set()

        def tell(message: Warning | str, *_: Any) -> None:
            if str(message) not in told:
                told.add(str(message))
                complain(f"warning: {message}")

        warnings.showwarning = tell  # type: ignore[assignment]  # takes more than it needs
        return _invoke(arguments)


def _invoke(arguments: list[str]) -> int:
    try:
        status = typer.main.get_command(app)(args=arguments, prog_name="vitruvian", standalone_mode=False)
        return int(status or 0)
    except typer.Exit as exit_:
        return exit_.exit_code
    except VitruvianError as error:
        return _refuse(str(error), 1 if isinstance(error, RunFailed) else BAD_INPUT, arguments)
    except Interrupted as error:
        return _refuse(str(error), INTERRUPTED, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return _refuse("interrupted", INTERRUPTED, arguments)
    except Complaint as error:
        return _refuse(error.format_message(), BAD_INPUT, arguments)


def _refuse(message: str, status: int, arguments: list[str]) -> int:
    complain(message)
    if "--json" in arguments:
        print_json({"error": message})
    return status


def _show_version(asked: bool) -> None:
    if asked:
        print(f"vitruvian {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


COMMANDS: tuple[Callable[..., Any], ...] = (
    running.scenes,
    running.run,
    sweeping.sweep,
    tracking.track,
    laughing.laugh,
    binding.bind,
    looking.view,
    looking.share,
    looking.render,
    looking.export,
    looking.info,
    proving.verify,
    proving.bench,
    preparing.prepare,
    doctoring.doctor,
    training.train,
    characters.character,
    characters.search,
)
for command in COMMANDS:
    app.command()(telling(command))

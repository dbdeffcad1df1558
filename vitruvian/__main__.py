"""The command line: `vitruvian` and `python -m vitruvian`. Ctrl-C while it is being loaded ends it in one line too."""

import sys


def main() -> None:
    try:
        from vitruvian.cli import main
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    main()


if __name__ == "__main__":
    main()

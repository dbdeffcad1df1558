"""What `import vitruvian as vt` offers beyond the parts: run a scene, open its recording, look at it.

`running`     `run`: the one way to run a scene, for Python, the command line and sweeps
`opening`     `open`: a recording with its signals as arrays or as a table
`looking`     `render` and `view`: pictures, films, the browser
"""

from vitruvian.door.running import Run, RunInterrupted, run

__all__ = ["Run", "RunInterrupted", "run"]

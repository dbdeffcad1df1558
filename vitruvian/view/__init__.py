"""Browser viewer, pictures, films.

render    pictures and films of recordings: `render_picture`, `render_film`
viewer    a recording, or a model that has not run, in the browser: `serve`, `serve_model`
live      a running simulation in the browser: `LiveView`
memory    a recording in memory: `MemoryRecording`, `one_frame`

Below these: `drawing` (stage and frame to triangles), `overlay` (words) and `raster/` (triangles to pixels) for
pictures; `page` with `page_cameras`, `plots`, `server`, `nodes` and `line_nodes` (parts of the scene) and `browser`
for the browser; `camera`, `colour` and `normals` for both.
"""

from vitruvian.view.live import LiveView
from vitruvian.view.memory import MemoryRecording, one_frame
from vitruvian.view.render import Shooting, render_film, render_picture
from vitruvian.view.viewer import Viewer, serve, serve_model

__all__ = [
    "LiveView",
    "MemoryRecording",
    "Shooting",
    "Viewer",
    "one_frame",
    "render_film",
    "render_picture",
    "serve",
    "serve_model",
]

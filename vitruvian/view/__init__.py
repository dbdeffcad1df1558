"""Browser viewer, pictures, films.

render    pictures and films of recordings: `render_picture`, `render_film`
viewer    a recording, or a model that has not run, in the browser: `serve`, `serve_model`
live      a running simulation in the browser: `LiveView`
sharing   a recording as one HTML file that plays by itself: `write_page`
memory    a recording in memory: `MemoryRecording`, `one_frame`

Below these: `drawing` (stage and frame to triangles), `overlay` (words) and `raster/` (triangles to pixels) for
pictures; `packing` (stage and frame to bytes), `server` and `player/` (the page itself) for the browser; `camera`,
`colour`, `creases` and `normals` for both.
"""

from vitruvian.view.live import LiveView
from vitruvian.view.memory import MemoryRecording, one_frame
from vitruvian.view.render import Shooting, render_film, render_picture
from vitruvian.view.sharing import write_page
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
    "write_page",
]

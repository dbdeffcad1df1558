"""The page in the browser: shows a stage at one frame, with layers, cameras, colours and plots.

Recordings (`viewer`) and running simulations (`live`) both drive this one page through `show`.
"""

from __future__ import annotations

import contextlib
import html
import io
import json
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.view.browser import plain
from vitruvian.view.camera import Bounds, grid_spacing
from vitruvian.view.colour import ColourMap
from vitruvian.view.drawing import layer_names
from vitruvian.view.line_nodes import PiecesNode, TubesNode, lines_node
from vitruvian.view.nodes import BodyNode, Node, PointsNode, SurfaceNode
from vitruvian.view.page_cameras import PageCameras
from vitruvian.view.plots import Plots
from vitruvian.view.raster.shadow import light_axes
from vitruvian.view.server import start_server
from vitruvian.world import Frame, Stage

Array = np.ndarray

PANEL_WIDTHS = (310, 340)  # left and right [pixel]
Valued = SurfaceNode | TubesNode | PiecesNode  # what may be coloured by a value
BACKDROP = ((187, 199, 212), (226, 229, 233), (238, 240, 242))  # top, horizon, bottom


class Page:
    """A viser server that shows one stage."""

    def __init__(
        self,
        stage: Stage,
        bounds: Bounds,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        title: str = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.stage, self.bounds, self.title = stage, bounds, title
        self.server = start_server(host, port, title)
        self.port: int = self.server.get_port()
        self.url = f"http://{host}:{self.port}"
        self._lock = threading.RLock()
        self._parameters = dict(parameters or {})
        self.cameras = PageCameras(self.server, stage, bounds)
        self._set_scene()
        gui = self.server.gui
        self.words = gui.add_html(self._header(None))
        self.playback = gui.add_folder("Playback")
        self.nodes = self._add_nodes()
        self.cameras.add_buttons(gui)
        self._add_layers(gui)
        self._add_colours(gui)
        self.plots: Plots | None = None
        if stage.signals:
            panel = gui.add_panel()
            with panel.add_tab("Signals"):
                self.plots = Plots(gui, stage.signals)
            panel.dock_left()
            panel.set_width(PANEL_WIDTHS[0])

    def show(self, time: float | None, frame: Frame, note: str = "") -> None:
        """Show `frame`, taken at `time` [s]."""
        with self._lock, self.server.atomic():
            for node in self.nodes:
                node.show(frame)
            self.cameras.move(frame)
            self.words.content = self._header(time, note)

    def close(self) -> None:
        """Stop serving."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _set_scene(self) -> None:
        scene, gui = self.server.scene, self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(168, 60, 48))
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTHS[1])
        rows = np.linspace(0.0, 1.0, 256)
        shades = np.stack([np.interp(rows, (0.0, 0.5, 1.0), [c[k] for c in BACKDROP]) for k in range(3)], axis=1)
        scene.set_background_image(np.repeat(shades.round().astype(np.uint8)[:, None], 8, axis=1), format="png")
        scene.set_up_direction("+z")
        self._set_lights()
        if self.stage.ground is not None:
            size = grid_spacing(self.bounds.reach)
            scene.add_grid(
                "/ground",
                infinite_grid=True,
                cell_size=size,
                section_size=5.0 * size,
                cell_color=(208, 213, 220),
                section_color=(184, 191, 201),
                fade_distance=14.0 * self.bounds.radius,
                shadow_opacity=0.22,
                position=(0.0, 0.0, self.stage.ground - 1e-3 * self.bounds.reach),
            )

    def _set_lights(self) -> None:
        """As in pictures: a cool sky, and a warm key over the first camera's left shoulder."""
        scene = self.server.scene
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)
        scene.add_light_hemisphere("/sky", sky_color=(222, 233, 250), ground_color=(196, 180, 160), intensity=2.5)
        eye, target = self.cameras.first[:2]
        towards = light_axes((target - eye) / np.linalg.norm(target - eye))[2]
        place = tuple(4.0 * self.bounds.radius * towards)
        scene.add_light_directional("/key", color=(255, 240, 218), intensity=2.8, cast_shadow=True, position=place)

    def _add_nodes(self) -> list[Node]:
        scene, stage = self.server.scene, self.stage
        nodes: list[Node] = []
        self.parents = {}
        for layer in layer_names(stage):
            top = f"/{plain(layer)}"
            self.parents[layer] = scene.add_frame(top, show_axes=False)
            riders: dict[str, list[Any]] = {}
            for mesh in stage.meshes:
                if mesh.layer == layer:
                    riders.setdefault(mesh.body, []).append(mesh)
            for body, meshes in riders.items():
                index = stage.bodies.index(body) if body in stage.bodies else -1
                nodes.append(BodyNode(scene, f"{top}/body {plain(body)}", index, meshes))
            for surface in (s for s in stage.surfaces if s.layer == layer):
                nodes.append(SurfaceNode(scene, f"{top}/surface {plain(surface.name)}", surface))
            for lines in (l for l in stage.lines if l.layer == layer):
                nodes.append(lines_node(scene, f"{top}/lines {plain(lines.name)}", lines))
            for points in (p for p in stage.points if p.layer == layer):
                nodes.append(PointsNode(scene, f"{top}/points {plain(points.name)}", points))
        return nodes

    def _add_layers(self, gui: Any) -> None:
        layers = layer_names(self.stage)
        if not layers:
            return
        with gui.add_folder("Layers"):
            boxes = {layer: gui.add_checkbox(layer, True, hint=f"show or hide {layer}") for layer in layers}
            with gui.add_folder("Opacity", expand_by_default=False):
                for layer in layers:
                    self._add_layer(gui, layer, boxes[layer])

    def _add_layer(self, gui: Any, layer: str, shown: Any) -> None:
        opacity = gui.add_slider(layer, 0.05, 1.0, 0.05, 1.0, hint="as a part of the layer's own opacity")

        @shown.on_update
        def _(_: Any) -> None:
            with self._lock:
                self.parents[layer].visible = shown.value
                opacity.disabled = not shown.value

        @opacity.on_update
        def _(_: Any) -> None:
            with self._lock, self.server.atomic():
                for node in self.nodes:
                    if node.layer == layer:
                        node.fade(opacity.value)

    def _add_colours(self, gui: Any) -> None:
        valued = [n for n in self.nodes if isinstance(n, Valued) and n.colours is not None]
        if not valued:
            return
        with gui.add_folder("Colours"):
            kinds: dict[str, list[Valued]] = {}
            for node in valued:
                assert node.colours is not None
                kinds.setdefault(f"{node.layer}: {node.colours.title}", []).append(node)
            for label, nodes in kinds.items():
                self._add_colour(gui, label, nodes)

    def _add_colour(self, gui: Any, label: str, nodes: list[Valued]) -> None:
        box = gui.add_checkbox(label, True, hint="colour by this value, or show the part's own colour")
        assert nodes[0].colours is not None
        legend = gui.add_html(_legend(nodes[0].colours))

        @box.on_update
        def _(_: Any) -> None:
            with self._lock, self.server.atomic():
                legend.visible = box.value
                for node in nodes:
                    node.colour_by_value(box.value)

    def _header(self, time: float | None, note: str = "") -> str:
        settings = ", ".join(f"{k} {_short(v)}" for k, v in self._parameters.items())
        clock = "" if time is None else f"t = {time:.3f} s"
        lines = [
            f'<div style="font-size:1.15em;font-weight:600">{html.escape(self.title or "vitruvian")}</div>',
            f'<div style="opacity:.65;font-size:.85em">{html.escape(settings)}</div>' if settings else "",
            f'<div id="clock" style="font-variant-numeric:tabular-nums;margin-top:.25em">{clock}'
            f'<span style="opacity:.65"> {html.escape(note)}</span></div>',
        ]
        return f'<div style="padding:.6em .9em .2em .9em;line-height:1.45">{"".join(lines)}</div>'


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, str) else json.dumps(value)


def _legend(colours: ColourMap) -> str:
    stops = (255.0 * colours(np.linspace(colours.low, colours.high, 9))).round().astype(int)
    bar = ",".join(f"rgb({r},{g},{b})" for r, g, b in stops)
    unit = f" [{html.escape(colours.unit)}]" if colours.unit else ""
    return (
        '<div style="padding:0 .9em .5em .9em;font-size:.8em">'
        f'<div style="height:8px;border-radius:3px;background:linear-gradient(90deg,{bar})"></div>'
        f'<div style="display:flex;justify-content:space-between;opacity:.75"><span>{colours.low:.4g}</span>'
        f"<span>{html.escape(colours.title)}{unit}</span><span>{colours.high:.4g}</span></div></div>"
    )

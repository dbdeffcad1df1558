"""Cameras of the page: the stage's own and one that shows the whole, buttons to go there, and bodies to follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.view.camera import FIELD_OF_VIEW, Bounds, auto_view, pinhole
from vitruvian.world import Frame, Stage

Array = np.ndarray

WHOLE = "whole"  # the camera that is always there
ROOMY = 1.25  # width over height of a window from which on the view is never widened
SPARE = 1.06  # free space left and right of what a narrow window shows


class PageCameras:
    """Views of a stage, and the clients that look through them."""

    def __init__(self, server: Any, stage: Stage, bounds: Bounds) -> None:
        self.server, self.stage = server, stage
        self.views: dict[str, tuple[Array, Array, str]] = {
            c.name: (np.array(c.eye, float), np.array(c.target, float), c.follow) for c in stage.cameras
        }
        self.views.setdefault(WHOLE, (*auto_view(bounds, (1280, 900)), ""))
        self.first = next(iter(self.views.values()))  # eye and target [m], body to follow
        self._bounds = bounds
        self._looking: dict[int, tuple[Array, Array, str]] = {}  # through which view each client looks
        self._follow = self.first[2]
        self._poses: Array | None = None  # where bodies are, and where they were at first
        self._first_poses: Array | None = None
        self._aspects: dict[int, float] = {}
        server.initial_camera.position, server.initial_camera.look_at = self.first[:2]
        server.initial_camera.fov = float(FIELD_OF_VIEW)
        server.initial_camera.near = 0.01 * bounds.reach
        server.on_client_connect(self._greet)

    def add_buttons(self, gui: Any) -> None:
        """A folder with a button for each view."""
        with gui.add_folder("Camera"):
            names = list(self.views)
            # A row of buttons holds about four names.
            for i in range(0, len(names), 4):
                buttons = gui.add_button_group("View from" if i == 0 else " ", names[i : i + 4])
                buttons.on_click(lambda event: self._go(self.views[event.target.value], event.client))

    def move(self, frame: Frame) -> None:
        """Let cameras move along with the followed body."""
        if len(frame.poses) == 0:
            return
        poses = np.asarray(frame.poses, dtype=float)
        before, self._poses = self._poses, poses
        if before is None:
            self._first_poses = poses
            return
        if self._follow not in self.stage.bodies:
            return
        i = self.stage.bodies.index(self._follow)
        step = poses[i, :3] - before[i, :3]
        if np.isfinite(step).all() and np.abs(step).max() > 0.0:
            for client in self.server.get_clients().values():
                client.camera.position = client.camera.position + step

    def _go(self, view: tuple[Array, Array, str], client: Any) -> None:
        eye, target, self._follow = view
        shift = np.zeros(3)
        if self._follow in self.stage.bodies and self._poses is not None and self._first_poses is not None:
            i = self.stage.bodies.index(self._follow)
            shift = self._poses[i, :3] - self._first_poses[i, :3]
        clients = [client] if client is not None else self.server.get_clients().values()
        for one in clients:
            with one.atomic():
                one.camera.position = eye + shift
                one.camera.look_at = target + shift
                one.camera.up_direction = np.array([0.0, 0.0, 1.0])
            self._looking[one.client_id] = view
            self._widen(one)

    def _greet(self, client: Any) -> None:
        self._fit(client)
        client.camera.on_update(lambda _: self._fit(client))

    def _fit(self, client: Any) -> None:
        # The window's shape is known for good only after the panels have been docked.
        if abs(client.camera.aspect - self._aspects.get(client.client_id, 0.0)) >= 0.01:
            self._aspects[client.client_id] = client.camera.aspect
            self._widen(client)

    def _widen(self, client: Any) -> None:
        """Widen the view of a narrow window, so that what its camera shows fits from side to side."""
        view = self._looking.get(client.client_id, self.first)
        wanted = min(self._width_seen(view) * SPARE, ROOMY)
        narrow = max(wanted / max(client.camera.aspect, 0.2), 1.0)
        client.camera.fov = float(2.0 * np.arctan(narrow * np.tan(0.5 * FIELD_OF_VIEW)))

    def _width_seen(self, view: tuple[Array, Array, str]) -> float:
        """Width over height that a picture through this view needs to hold the box of all that moves, side to side."""
        low, high = self._bounds.low, self._bounds.high
        corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (high - low) + low
        camera = pinhole(view[0], view[1], (2, 2))
        across, _, ahead = camera.axes @ (corners - camera.eye).T
        if (ahead <= 0.0).any():
            return ROOMY
        return float(np.abs(camera.focal * across / ahead).max())

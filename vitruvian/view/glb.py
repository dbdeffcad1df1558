"""One coloured triangle surface as a binary glTF 2.0 file, which is how the browser takes colours per vertex."""

from __future__ import annotations

import numpy as np

from vitruvian.exchange.gltf_file import LINE_ARRAY, TRIANGLES, GltfFile

Array = np.ndarray
WHITE = (1.0, 1.0, 1.0)
ROUGHNESS = 0.6


def coloured_surface(
    vertices: Array, faces: Array, normals: Array, colours: Array, *, opacity: float = 1.0, both_sides: bool = True
) -> bytes:
    """A GLB of vertices [m] (n, 3), faces (m, 3), unit normals (n, 3) and colours in linear light 0..1 (n, 3)."""
    rgba = np.full((len(vertices), 4), 255, dtype=np.uint8)
    rgba[:, :3] = (255.0 * np.clip(colours, 0.0, 1.0) + 0.5).astype(np.uint8)
    file = GltfFile()
    material = file.add_material("surface", WHITE, opacity, roughness=ROUGHNESS, both_sides=both_sides)
    attributes = {
        "POSITION": file.add_array(vertices.astype("<f4"), LINE_ARRAY, bounds=True),
        "NORMAL": file.add_array(normals.astype("<f4"), LINE_ARRAY),
        "COLOR_0": file.add_array(rgba, LINE_ARRAY),
    }
    indices = file.add_array(faces.astype("<u4").ravel(), TRIANGLES)
    mesh = file.add_mesh("surface", {"attributes": attributes, "indices": indices, "material": material})
    file.add_node("surface", mesh=mesh)
    return file.to_bytes()

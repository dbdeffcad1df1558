"""Materials, sky, sun and pool of a Blender scene, made of Cycles' nodes (Blender 4.2 or later).

Skin: subsurface scattering under a coat that lets part of the rays through, more where it is seen face on. Water: a
refracting and mirroring surface (index 1.33) over a volume that absorbs; rays towards lamps go through it straight, so
that the sun lights what is below without caustics that would take thousands of samples.
"""

from __future__ import annotations

from typing import Any

import bpy

WATER_INDEX = 1.333
ABSORBS = (0.35, 0.075, 0.045)  # [1/m] of red, green, blue: pool water, redder absorbed as in the sea
SCATTER = {"skin": (0.012, 0.0045, 0.002), "flesh": (0.012, 0.004, 0.002), "bones": (0.002, 0.0016, 0.001)}  # [m]
SURFACE = {  # roughness, coat, subsurface weight
    "bones": (0.42, 0.05, 0.15),
    "muscles": (0.34, 0.25, 0.0),
    "skin": (0.42, 0.08, 0.9),
    "flesh": (0.4, 0.1, 0.6),
}
PLAIN = (0.5, 0.0, 0.0)
TILE = 0.5  # [m]
TILES, GROUT, LANE = ((0.62, 0.80, 0.84), (0.50, 0.72, 0.78)), (0.75, 0.80, 0.80), (0.02, 0.05, 0.16)
LANE_LINE = 0.25  # [m]
DECK, STUDIO = (0.45, 0.42, 0.37), (0.50, 0.50, 0.51)


class Nodes:
    """A tree of nodes, put together by name: `add("ShaderNodeMath", operation="ADD")`, `link(a, "Value", b, 0)`."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        tree.nodes.clear()

    def add(self, kind: str, **settings: Any) -> Any:
        node = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def link(self, a: Any, out: str | int, b: Any, into: str | int) -> None:
        self.tree.links.new(a.outputs[out], b.inputs[into])


def material(name: str) -> tuple[Any, Nodes]:
    """An empty material and its nodes."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    return made, Nodes(made.node_tree)


def body_material(layer: str, colour: list[float], opacity: float, painted: bool) -> Any:
    """What bones, muscles, skin and things are made of; painted: colours come with the vertices."""
    made, nodes = material(layer)
    rough, coat, under = SURFACE.get(layer, PLAIN)
    shine = nodes.add("ShaderNodeBsdfPrincipled")
    linear = (*[linear_from_srgb(c) for c in colour], 1.0)
    shine.inputs["Base Color"].default_value = linear
    shine.inputs["Roughness"].default_value = rough
    shine.inputs["Coat Weight"].default_value = coat
    shine.inputs["Coat Roughness"].default_value = 0.2
    if painted:
        paint = nodes.add("ShaderNodeAttribute", attribute_name="paint")
        nodes.link(paint, "Color", shine, "Base Color")
    if under > 0.0 and layer in SCATTER:
        shine.inputs["Subsurface Weight"].default_value = under
        shine.inputs["Subsurface Radius"].default_value = [r / max(SCATTER[layer]) for r in SCATTER[layer]]
        shine.inputs["Subsurface Scale"].default_value = max(SCATTER[layer])
    out = nodes.add("ShaderNodeOutputMaterial")
    if opacity >= 1.0:
        nodes.link(shine, "BSDF", out, "Surface")
        return made
    # Face on, `opacity` of the rays stay; edge on all do, as with a thin layer.
    edge = nodes.add("ShaderNodeLayerWeight")
    edge.inputs["Blend"].default_value = 0.35
    stay = nodes.add("ShaderNodeMapRange")
    stay.inputs["To Min"].default_value = opacity
    stay.inputs["To Max"].default_value = 1.0
    through, mix = nodes.add("ShaderNodeBsdfTransparent"), nodes.add("ShaderNodeMixShader")
    nodes.link(edge, "Facing", stay, "Value")
    nodes.link(stay, "Result", mix, 0)
    nodes.link(through, "BSDF", mix, 1)
    nodes.link(shine, "BSDF", mix, 2)
    nodes.link(mix, "Shader", out, "Surface")
    return made


def water_material(depth: bool) -> Any:
    """Water; depth: with the absorption of what is below (a pool), else clear (a splash, a small tank)."""
    made, nodes = material("water" if depth else "splash")
    glass = nodes.add("ShaderNodeBsdfGlass")
    glass.inputs["IOR"].default_value = WATER_INDEX
    glass.inputs["Roughness"].default_value = 0.0
    through, mix = nodes.add("ShaderNodeBsdfTransparent"), nodes.add("ShaderNodeMixShader")
    path, out = nodes.add("ShaderNodeLightPath"), nodes.add("ShaderNodeOutputMaterial")
    nodes.link(path, "Is Shadow Ray", mix, 0)
    nodes.link(glass, "BSDF", mix, 1)
    nodes.link(through, "BSDF", mix, 2)
    nodes.link(mix, "Shader", out, "Surface")
    if depth:
        absorb = nodes.add("ShaderNodeVolumeAbsorption")
        most = max(ABSORBS)
        # Density times (1 - colour) is what is lost per metre.
        absorb.inputs["Color"].default_value = (*[1.0 - a / most for a in ABSORBS], 1.0)
        absorb.inputs["Density"].default_value = most
        nodes.link(absorb, "Volume", out, "Volume")
    return made


def foam_material() -> Any:
    """Torn water and drops: white that lets light through, partly clear."""
    made, nodes = material("foam")
    white = nodes.add("ShaderNodeBsdfPrincipled")
    white.inputs["Base Color"].default_value = (0.9, 0.95, 1.0, 1.0)
    white.inputs["Roughness"].default_value = 0.15
    white.inputs["IOR"].default_value = WATER_INDEX
    white.inputs["Transmission Weight"].default_value = 0.75
    through, mix = nodes.add("ShaderNodeBsdfTransparent"), nodes.add("ShaderNodeMixShader")
    path, out = nodes.add("ShaderNodeLightPath"), nodes.add("ShaderNodeOutputMaterial")
    nodes.link(path, "Is Shadow Ray", mix, 0)
    nodes.link(white, "BSDF", mix, 1)
    nodes.link(through, "BSDF", mix, 2)
    nodes.link(mix, "Shader", out, "Surface")
    return made


def tile_material(lane: float | None) -> Any:
    """Half-metre tiles with pale joints, in world coordinates; lane: where across the dark line lies [m]."""
    made, nodes = material("tiles")
    at, out = nodes.add("ShaderNodeNewGeometry"), nodes.add("ShaderNodeOutputMaterial")
    bricks = nodes.add("ShaderNodeTexBrick", offset=0.0, squash=1.0)
    # Bricks see (x, y); on walls their second coordinate is the height: (x + y, z) where the normal is level.
    split, turn = nodes.add("ShaderNodeSeparateXYZ"), nodes.add("ShaderNodeSeparateXYZ")
    along, upright = nodes.add("ShaderNodeMath", operation="ADD"), nodes.add("ShaderNodeMath", operation="ABSOLUTE")
    flat, wall, pick = nodes.add("ShaderNodeCombineXYZ"), nodes.add("ShaderNodeCombineXYZ"), nodes.add("ShaderNodeMix")
    pick.data_type = "VECTOR"
    nodes.link(at, "Position", split, 0)
    nodes.link(at, "Normal", turn, 0)
    nodes.link(split, "X", along, 0)
    nodes.link(split, "Y", along, 1)
    nodes.link(split, "X", flat, "X")
    nodes.link(split, "Y", flat, "Y")
    nodes.link(along, 0, wall, "X")
    nodes.link(split, "Z", wall, "Y")
    nodes.link(turn, "Z", upright, 0)
    nodes.link(upright, 0, pick, "Factor")
    nodes.link(wall, 0, pick, 4)
    nodes.link(flat, 0, pick, 5)
    nodes.link(pick, 1, bricks, "Vector")
    bricks.inputs["Color1"].default_value = (*TILES[0], 1.0)
    bricks.inputs["Color2"].default_value = (*TILES[1], 1.0)
    bricks.inputs["Mortar"].default_value = (*GROUT, 1.0)
    bricks.inputs["Scale"].default_value = 1.0
    bricks.inputs["Mortar Size"].default_value = 0.012
    bricks.inputs["Brick Width"].default_value = TILE
    bricks.inputs["Row Height"].default_value = TILE
    shine = nodes.add("ShaderNodeBsdfPrincipled")
    shine.inputs["Roughness"].default_value = 0.25
    nodes.link(shine, "BSDF", out, "Surface")
    if lane is None:
        nodes.link(bricks, "Color", shine, "Base Color")
        return made
    off = nodes.add("ShaderNodeMath", operation="SUBTRACT")
    off.inputs[1].default_value = lane
    size, near = nodes.add("ShaderNodeMath", operation="ABSOLUTE"), nodes.add("ShaderNodeMath", operation="LESS_THAN")
    near.inputs[1].default_value = 0.5 * LANE_LINE
    ink = nodes.add("ShaderNodeMix")
    ink.data_type = "RGBA"
    ink.inputs[7].default_value = (*LANE, 1.0)
    nodes.link(split, "X", off, 0)
    nodes.link(off, 0, size, 0)
    nodes.link(size, 0, near, 0)
    nodes.link(near, 0, ink, "Factor")
    nodes.link(bricks, "Color", ink, 6)
    nodes.link(ink, 2, shine, "Base Color")
    return made


def plain_material(name: str, colour: tuple[float, ...], rough: float = 0.7) -> Any:
    """One colour, linear light."""
    made, nodes = material(name)
    shine, out = nodes.add("ShaderNodeBsdfPrincipled"), nodes.add("ShaderNodeOutputMaterial")
    shine.inputs["Base Color"].default_value = (*colour, 1.0)
    shine.inputs["Roughness"].default_value = rough
    nodes.link(shine, "BSDF", out, "Surface")
    return made


def sky(outdoors: bool) -> None:
    """The light from all around: a blue sky over a pale horizon, or the even white of a studio."""
    world = bpy.data.worlds.new("sky")
    bpy.context.scene.world = world
    world.use_nodes = True
    nodes = Nodes(world.node_tree)
    at, split = nodes.add("ShaderNodeTexCoord"), nodes.add("ShaderNodeSeparateXYZ")
    ramp, light = nodes.add("ShaderNodeValToRGB"), nodes.add("ShaderNodeBackground")
    out = nodes.add("ShaderNodeOutputWorld")
    nodes.link(at, "Generated", split, 0)
    nodes.link(split, "Z", ramp, 0)
    nodes.link(ramp, "Color", light, "Color")
    nodes.link(light, "Background", out, "Surface")
    first, last = ramp.color_ramp.elements
    if outdoors:
        first.color, last.color = (0.50, 0.70, 0.92, 1.0), (0.05, 0.20, 0.65, 1.0)
        middle = ramp.color_ramp.elements.new(0.25)
        middle.color = (0.20, 0.45, 0.88, 1.0)
    else:
        first.color, last.color = (0.62, 0.68, 0.76, 1.0), (0.85, 0.92, 1.0, 1.0)
    light.inputs["Strength"].default_value = 1.0 if outdoors else 0.5


def sun(towards: list[float], outdoors: bool) -> Any:
    """The key light, from the direction `towards`."""
    from mathutils import Vector

    lamp = bpy.data.lights.new("sun", "SUN")
    lamp.energy = 4.5 if outdoors else 4.0
    lamp.angle = 0.01 if outdoors else 0.12  # [rad]: the sun itself, or a soft box
    lamp.color = (1.0, 0.95, 0.87)
    made = bpy.data.objects.new("sun", lamp)
    made.rotation_mode = "QUATERNION"
    made.rotation_quaternion = Vector(towards).to_track_quat("Z", "Y")
    return made


def linear_from_srgb(c: float) -> float:
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

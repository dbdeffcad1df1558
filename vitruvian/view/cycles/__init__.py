"""Path-traced pictures and films, and Blender scenes, of recordings: Blender's engine Cycles, in a process of its own.

render       `traced_picture`, `traced_film`, `write_blend`
engine       which Blender there is, and how its process is run
folder       a recording as plain frames, which that process reads
in_blender/  what runs there; it needs NumPy and Blender's `bpy`, and nothing of ours

Blender is under the GPL. It is never imported by this package: only programs started as `python in_blender …` or
`blender --python …` use it, and files are all that goes between.
"""

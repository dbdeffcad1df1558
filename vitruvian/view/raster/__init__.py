"""A software renderer: triangles and balls to pixels, with shadows and ambient occlusion, on any machine.

`frame.draw` tells the story of a picture; the stages are `project` (to the screen), `cover` (what each sample sees),
`shadow` (what the light sees), `occlusion` (how open each place is), `shade` (colour of every pixel, of `light` on
things, in `water` and on the `backdrop`).

Kernels are Numba functions that release the interpreter lock; bands of rows are drawn side by side, each by one thread
in the order of the triangles, so a picture has the same bits whatever the number of threads.
"""

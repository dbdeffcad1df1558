"""A pendulum as one HTML file that plays in any browser, without Python."""

import vitruvian as vt

run = vt.run("pendulum", seconds=1.0, out="swing.zarr")
page = vt.share(run, out="swing.html")
print(f"{page} has {page.stat().st_size / 1e6:.2f} MB")

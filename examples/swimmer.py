"""A front crawl at 0.8 strokes a second, in still water under a force law (simulated water takes minutes)."""

import vitruvian as vt

run = vt.run("crawl", seconds=0.5, water="still", rate=0.8)
speed = run.open()["speed_ahead"]
print(f"from {speed[0]:.2f} to {speed[-1]:.2f} m/s")
vt.render(run, "swimmer.png", layers=["bones", "muscles"])

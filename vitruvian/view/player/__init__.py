"""The page in the browser: one HTML file, put together from the files beside this one; no library, nothing fetched.

`page.html`  what is on it      `page.css`  how it is laid out, from a phone to a desk
`data.js`    packs to arrays    `paint.js`  arrays to pixels (WebGL 2)    `chart.js`  curves
`pick.js`    what a click meets     `page.js`    time, cameras, choices

The same page plays from a server (`viewer`, `live`) and from data inside itself (`sharing`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

SCRIPTS = ("data.js", "paint.js", "chart.js", "pick.js", "page.js")


def page(data: str = "") -> str:
    """The page; `data` is what it plays where there is no server, else empty."""
    return _shell().replace("<!--data-->", data, 1)


@cache
def _shell() -> str:
    folder = files("vitruvian.view") / "player"
    text = (folder / "page.html").read_text(encoding="utf-8")
    style = (folder / "page.css").read_text(encoding="utf-8")
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return text.replace("/*style*/", style).replace("/*script*/", script)

"""Make the pictures of docs/web.md: every page, light, dark and on a phone, of a sample store in a temporary home.

    .venv/bin/python scripts/screenshots.py
    .venv/bin/python scripts/screenshots.py --only review --out /tmp/pictures

Needs Chromium and the development dependencies.
"""

import argparse
import base64
import os
import struct
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from recollect.interfaces.install import machine
from recollect.interfaces.web.server import WebServer

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from web_sample import fill  # noqa: E402

from browser import find_browser  # noqa: E402 - in the folder that was just added

OUT = ROOT / "docs" / "web"
WIDE, PHONE = {"width": 1040, "height": 640}, {"width": 375, "height": 667}
STYLES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": WIDE},
    "dark": {"color_scheme": "dark", "viewport": WIDE},
    "phone": {"color_scheme": "light", "viewport": PHONE, "has_touch": True},
}
COLOURS = 256  # of a picture with a palette
# Draws a picture and returns its bytes as red, green and blue.
_PIXELS = """async (data) => {
  const picture = await createImageBitmap(await (await fetch(data)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height), context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const { data: rgba } = context.getImageData(0, 0, picture.width, picture.height);
  let text = "";
  for (let at = 0; at < rgba.length; at += 32768) text += String.fromCharCode(...rgba.subarray(at, at + 32768));
  return [picture.width, picture.height, btoa(text)];
}"""


def addresses(ids: dict[str, str]) -> dict[str, str]:
    """Return the pages to show, by the names of their pictures."""
    return {
        "overview": "/",
        "memories": "/memories",
        "search": "/memories?q=why+are+users+logged+out",
        "memory": f"/memories/{ids['renew']}",
        "new-memory": "/memories/new",
        "review": "/review",
        "sessions": "/sessions",
        "session": "/session?id=5f2c",
        "replay": "/session/replay?id=5f2c",
        "code": "/code",
        "code-task": "/code/task?q=users+are+logged+out+after+five+minutes",
        "code-symbol": "/code/symbol?q=issue_for",
        "graph": "/graph",
        "work": "/work",
        "changes": "/changes",
        "records": "/records",
        "redactions": "/records/redactions",
        "deleted": "/records/deleted",
        "metrics": "/records/metrics",
        "settings": "/settings",
        "host": "/settings/host?host=claude-code&do=install",
        "migration": "/settings/migration",
    }


def shoot(
    browser: Browser, server: WebServer, pages: dict[str, str], out: Path, *, whole: bool = False
) -> None:
    drawing = browser.new_page()
    for style, options in STYLES.items():
        context = browser.new_context(base_url=server.address, **options)
        page = context.new_page()
        page.goto(f"/login?token={server.links.new_link()}")
        page.wait_for_url(server.address)
        for name, path in pages.items():
            page.goto(path)
            page.wait_for_load_state("networkidle" if name in ("overview", "review", "memory") else "load")
            if name == "memory":
                page.wait_for_selector(".diff")
            if name == "graph":
                page.wait_for_selector("#graph[data-state=done]")
            picture = page.screenshot(full_page=whole)
            (out / f"{name}-{style}.png").write_bytes(picture if whole else with_palette(drawing, picture))
        context.close()


def with_palette(page: Page, picture: bytes) -> bytes:
    """Return the picture as a PNG with a palette, which takes a third of the space."""
    data = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    width, height, text = page.evaluate(_PIXELS, data)
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3].astype(np.int32)
    coarse = (pixels >> 2 << 2) @ np.array([65536, 256, 1])
    colours, counts = np.unique(coarse, return_counts=True)
    palette = colours[np.argsort(-counts)[:COLOURS]]
    parts = [np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1) for found in (colours, palette)]
    nearest = np.array([int(np.abs(parts[1] - colour).sum(axis=1).argmin()) for colour in parts[0]], np.uint8)
    indices = nearest[np.searchsorted(colours, coarse)].reshape(height, width)
    rows = b"".join(b"\0" + row.tobytes() for row in indices)
    means = np.array([pixels[coarse == colour].mean(axis=0) for colour in palette]).round().astype(np.uint8)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", means.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="The names of the pages; all by default.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--whole", action="store_true", help="The whole page, however long it is.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder  # where the settings of agents would be
        machine.running_program = lambda: ("/home/ada/.local/bin/recollect",)  # as on anybody's machine
        engine, ids = fill(Path(folder))
        pages = {
            name: path
            for name, path in addresses(ids).items()
            if options.only is None or name in options.only
        }
        server = WebServer(engine, 0)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            with sync_playwright() as playwright:
                arguments = ["--no-sandbox"] if os.getuid() == 0 else []
                browser = playwright.chromium.launch(executable_path=find_browser(), args=arguments)
                shoot(browser, server, pages, options.out, whole=options.whole)
                browser.close()
        finally:
            server.stop()
            thread.join()


if __name__ == "__main__":
    main()

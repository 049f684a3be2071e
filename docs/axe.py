"""Run axe-core over the built site, light and dark, wide and narrow.

`python docs/axe.py docs/_build` starts a browser.

Where there is no Chromium, or no axe-core to be had, it says so and finds nothing.
"""

import http.server
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from functools import partial
from html import unescape
from pathlib import Path

AXE = "axe-core@4.14.1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NARROW = [
    "index.html",
    "fraud-and-imbalanced-data.html",
    "glossary.html",
    "metric-definitions.html",
    "search.html?q=roc+auc",
]
WIDE = [
    *NARROW,
    "ten-minutes.html",
    "metric-names.html",
    "reference.html",
    "api/frame_pr.plot.html",
    "gallery.html",
]
# Runs once the page has had time to show what it searched for, and leaves what it found in the
# page. Without transitions, because a colour half-way is no colour of the page.
RUN = """
<style>* { transition: none !important; }</style>
<script src="/axe.min.js"></script>
<script>
  addEventListener("load", () => setTimeout(async () => {
    const found = document.createElement("pre");
    const { violations } = await axe.run();
    const slider = document.querySelector(".threshold-slider input");
    if (slider) {
      slider.value = slider.max;
      slider.dispatchEvent(new Event("input"));
      const text = document.querySelector(".threshold-slider output").textContent;
      const last = "threshold 0.09: tp 5, fp 5, fn 0, precision 0.50, recall 1.00, f1 0.67";
      const nodes = [{ html: slider.outerHTML }];
      if (text !== last) violations.push({ id: `the slider shows ${text}`, nodes });
    }
    const { clientWidth, scrollWidth, dataset } = document.documentElement;
    const nodes = [{ html: "html" }];
    if (scrollWidth > clientWidth) violations.push({ id: `a page ${scrollWidth} px wide`, nodes });
    found.textContent = JSON.stringify({
      width: innerWidth,
      theme: dataset.theme,
      violations: violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].html]),
    });
    found.id = "axe-found";
    top.document.body.append(found);
  }, 1500));
</script>
"""


# A page as wide as asked for: a window of Chromium is never narrower than 500 px.
VIEW = """<!DOCTYPE html><body><iframe id="view" height="900"></iframe><script>
  const [width, address] = location.hash.slice(1).split(",");
  Object.assign(document.getElementById("view"), { width, src: address });
</script>"""


class Site(http.server.SimpleHTTPRequestHandler):
    """The pages as they are built, each with axe in it."""

    def send_head(self):
        """As for any file; a page is sent here, and nothing is left to send."""
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html":
            return super().send_head()
        page = path.read_text(encoding="utf-8").replace("</body>", RUN + "</body>")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())
        return None

    def log_message(self, *_):
        """Nothing: the log is of what was found."""


def fetch(directory: Path) -> str:
    npm = [shutil.which("npm") or "npm", "pack", "--silent", AXE]
    packed = subprocess.run(
        npm, cwd=directory, capture_output=True, encoding="utf-8", timeout=120, check=True
    ).stdout
    with tarfile.open(directory / packed.strip()) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def violations(browser: str, url: str, width: int, dark: bool, profile: Path) -> list[list]:
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    flags += [f"--user-data-dir={profile}", "--window-size=1600,1000"]
    flags += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    page = subprocess.run(
        [browser, *flags, url], capture_output=True, encoding="utf-8", timeout=120
    ).stdout
    found = json.loads(
        unescape(re.search(r'<pre id="axe-found"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])
    )
    assert (found["width"], found["theme"]) == (width, "dark" if dark else "light"), url
    return found["violations"]


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(print("axe was not run: there is no Chromium here"))
    with tempfile.TemporaryDirectory() as work:
        try:
            axe = fetch(Path(work))
        except (OSError, subprocess.SubprocessError) as error:
            raise SystemExit(
                print(f"axe was not run: {AXE} is not to be had here, {error}")
            ) from None
        shutil.copytree(site, f"{work}/site")
        Path(work, "site", "axe.min.js").write_text(axe, encoding="utf-8")
        Path(work, "site", "view.html").write_text(VIEW, encoding="utf-8")
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(Site, directory=f"{work}/site")
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked = [
            (page, width, dark)
            for width, pages in ((1440, WIDE), (390, NARROW))
            for page in pages
            for dark in (0, 1)
        ]
        failed = 0
        for page, width, dark in asked:
            url = f"http://127.0.0.1:{server.server_port}/view.html#{width},/{page}"
            for name, places, html in violations(
                browser, url, width, bool(dark), Path(work, "profile")
            ):
                failed += 1
                theme = "dark" if dark else "light"
                print(f"{page}, {width} px, {theme}: {name}, {places} times, as in {html}")
        server.shutdown()
    print(f"axe looked at {len(asked)} pages and found {failed} violations")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()

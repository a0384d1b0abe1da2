"""What a reader of screens, a keyboard or weak eyes would stumble over, looked for in a page as it is shown.

By axe-core, of whose findings the serious and the critical ones count, and by what it does not ask: that no page is
wider than the screen, that headings leave out no level, that each table says what it is.
"""

from functools import cache
from importlib.resources import files

from playwright.async_api import Page

AXE_RUN = """
() => axe.run({ resultTypes: ["violations"] }).then((told) => told.violations
  .filter((one) => one.impact === "serious" || one.impact === "critical")
  .map((one) => `axe ${one.id}: ${one.help}: `
    + one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.any[0]?.message || ""})`).join(" | ")))
"""


@cache
def axe_source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


async def findings(page: Page) -> list[str]:
    # Into the page as a debugger's words: a script tag of it would be stopped by the page's policy.
    await page.evaluate(axe_source())
    serious: list[str] = await page.evaluate(AXE_RUN)
    own: list[str] = await page.evaluate(SCRIPT)
    return [*serious, *own]


SCRIPT = """
() => {
  const found = [], all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true });
  const tell = (what, one) => found.push(`${what}: ${one.outerHTML.slice(0, 160)}`);
  const nameOf = (one) => {
    const ids = (one.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
    const labels = [...(one.labels || [])].map((label) => label.textContent);
    const titles = [...one.querySelectorAll("title")].map((title) => title.textContent);
    return [one.getAttribute("aria-label"), ...ids.map((id) => document.getElementById(id)?.textContent), ...labels,
            one.textContent, ...titles, one.getAttribute("title"), one.getAttribute("alt")]
      .some((text) => text && text.trim());
  };

  if (all("h1").length !== 1) found.push(`${all("h1").length} headings of the first kind`);
  if (all("main").length !== 1) found.push("not one main part");
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) found.push(`wider than the screen: ${wide}`);
  const ids = all("[id]").map((one) => one.id), twice = ids.filter((id, place) => ids.indexOf(id) !== place);
  if (twice.length) found.push(`ids twice: ${twice.slice(0, 5)}`);
  let level = 0;
  for (const one of all("h1, h2, h3, h4").filter(isShown)) {
    const own = Number(one.tagName[1]);
    if (own > level + 1) tell("heading leaves out a level", one);
    level = own;
  }
  for (const one of all("input:not([type=hidden]), select, textarea, button, a[href], summary").filter(isShown))
    if (!nameOf(one)) tell("no name", one);
  for (const one of all("th")) if (!one.scope && !one.classList.contains("box")) tell("heading of nothing", one);
  for (const one of all("table:not(.heatmap)")) if (!one.caption) tell("table without caption", one);
  for (const one of all("svg:not([aria-hidden=true])")) if (!nameOf(one)) tell("picture without name", one);
  for (const one of all("[aria-describedby], [aria-labelledby]"))
    for (const name of ["aria-describedby", "aria-labelledby"])
      for (const id of (one.getAttribute(name) || "").split(" ").filter(Boolean))
        if (!document.getElementById(id)) tell(`${name} of nothing`, one);
  for (const one of all("[tabindex]")) if (Number(one.getAttribute("tabindex")) > 0) tell("order of its own", one);

  // Contrast, of each text against what is painted below it (WCAG 2.1, 1.4.3).
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  // Of each colour once: to read a canvas takes a millisecond, and a long page asks for tens of thousands.
  const painted = new Map();
  const rgba = (colour) => {
    if (painted.has(colour)) return painted.get(colour);
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    painted.set(colour, [r, g, b, a / 255]);
    return painted.get(colour);
  };
  const over = ([r, g, b, a], [br, bg, bb]) => [r * a + br * (1 - a), g * a + bg * (1 - a), b * a + bb * (1 - a), 1];
  const groundOf = (one) => {
    const grounds = [];
    for (let at = one; at; at = at.parentElement) grounds.push(rgba(getComputedStyle(at).backgroundColor));
    return grounds.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map((c) => linear(c / 255))
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const looked = new Set();
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || looked.has(one)) continue;
    looked.add(one);
    if (!isShown(one) || one.closest("svg, option, .unseen, .skip")) continue;
    const style = getComputedStyle(one), ground = groundOf(one), ink = over(rgba(style.color), ground);
    const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < (isLarge ? 3 : 4.5) && !one.closest(":disabled")) tell(`contrast ${contrast.toFixed(2)}`, one);
  }
  return found.slice(0, 20);
}
"""

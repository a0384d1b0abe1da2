"""A robots.txt, a feed and a page, read without a service. Run: python examples/library.py"""

import headwater

ROBOTS = "User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n"
FEED = """<rss version="2.0"><channel><title>Harbour News</title>
<item><title>Tides</title><link>https://news.example/tides/?utm_source=rss</link></item></channel></rss>"""
STORY = "<p>The tide tables were printed this week. " * 20
PAGE = f"<title>Tide tables printed | Harbour News</title><article>{STORY}</article>"

rules = headwater.robots(ROBOTS, "examplebot")
for item in headwater.read_feed(FEED, url="https://news.example/feed.xml").items:
    if rules.allows(item.url):
        page = headwater.extract(PAGE, item.url)
        print(headwater.canonicalise(item.url).key, "·", page.title, "·", page.word_count, "words in", page.language)

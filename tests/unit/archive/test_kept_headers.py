from headwater.archive.raw import LONGEST_HEADER, headers_to_keep


def test_only_headers_that_matter_later_are_kept() -> None:
    said = {"Content-Type": "text/html", "Set-Cookie": "secret", "ETag": "e" * 5_000, "Link": "a\0"}
    kept = headers_to_keep(said)
    assert kept == {"content-type": "text/html", "etag": "e" * LONGEST_HEADER, "link": "a\ufffd"}

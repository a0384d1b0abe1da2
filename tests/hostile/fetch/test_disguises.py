"""Row 73: files that are called pages, and pages that are called files. Through the real worker and its readers."""

import random
import struct
import zlib
from io import BytesIO
from zipfile import ZipFile

from tests.faults.world import Articles, article, workbench

from headwater.database.pool import Database
from headwater.net.media_type import is_file
from headwater.simweb.message import Page

# A reader that takes it for a page finds an article in each.
WORDS = article("a story that stands in a file").decode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png() -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    picture = chunk(b"IDAT", zlib.compress(bytes(4)))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tEXt", b"Comment\0" + WORDS.encode()) + picture + chunk(b"IEND", b"")


def zipped() -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("story.html", WORDS)
    return file.getvalue()


def beginning(signature: bytes) -> bytes:
    noise = random.Random(1).randbytes(300)
    return signature + noise + WORDS.encode() + noise


FILES = {
    "png": png(),
    "zip": zipped(),
    "elf": beginning(b"\x7fELF\x02\x01\x01" + bytes(57)),
    "pdf": beginning(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
    "jpeg": beginning(b"\xff\xd8\xff\xe0\0\x10JFIF\0"),
    "gif": beginning(b"GIF89a\x01\0\x01\0"),
    "gzip": beginning(b"\x1f\x8b\x08\0"),
    "webp": beginning(b"RIFF\0\0\0\0WEBPVP8 "),
    "mp4": beginning(b"\0\0\0\x20ftypisom"),
    "exe": beginning(b"MZ\x90\0\x03"),
}
PAGES = {"image": "image/png", "archive": "application/zip", "octets": "application/octet-stream", "text": "text/plain"}
# Odd beginnings of what is a page all the same.
FINE = {"bom": b"\xef\xbb\xbf", "spaces": b" \r\n\t ", "text": b"PK and MZ are letters. GIF8 "}


async def test_a_file_called_a_page_is_no_document_nor_is_a_page_called_a_file(
    database: Database, database_url: str
) -> None:
    pages = {f"/file/{name}": Page(body) for name, body in FILES.items()}
    pages |= {f"/called/{name}": Page(article(name), kind) for name, kind in PAGES.items()}
    pages |= {f"/fine/{name}": Page(begin + article(name)) for name, begin in FINE.items()}
    async with workbench(database, {"a.test": Articles(pages=pages)}) as bench:
        await bench.queue(*(f"http://a.test{path}" for path in pages))
        async with bench.worker(database_url):
            await bench.until_settled()
        rows = await bench.rows("url, coalesce(reason, status)")
        told = {url.removeprefix("http://a.test"): word for url, word in rows}
        expected = {path: "fetched" if path.startswith("/fine") else "unsupported_content_type" for path in pages}
        assert told == expected
        stored = await database.fetch("select url from documents")
        assert {row["url"] for row in stored} == {f"http://a.test/fine/{name}" for name in FINE}


def test_a_page_in_any_charset_is_no_file() -> None:
    for charset in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "shift_jis", "gb18030", "koi8_r"):
        for begin in ("<!doctype html>", "<html>", "<?xml version='1.0'?>", "\n<p>", "Rar", "ID3", "BZh", "RIFF"):
            assert not is_file(f"{begin} и так далее".encode(charset, "replace"))

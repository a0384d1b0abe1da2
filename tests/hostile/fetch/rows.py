"""Sections A and B of the hostile inputs as far as a request could come of them: id, vector, what must become of it.

`{port}` is a port on which there really is a listener, and which the guard would let pass on a public address.
"""

from typing import NamedTuple


class Row(NamedTuple):
    id: str
    vector: str
    fate: str


BLOCKED = "blocked_address"

LOOPBACK = [
    Row("A1", "http://127.0.0.1:{port}/1", BLOCKED),
    Row("A2", "http://127.255.255.254:{port}/2", BLOCKED),
    Row("A3", "http://0.0.0.0:{port}/3", BLOCKED),
    Row("A4", "http://0:{port}/4", BLOCKED),
    Row("A5", "http://2130706433:{port}/5", BLOCKED),
    Row("A6", "http://0x7f000001:{port}/6", BLOCKED),
    Row("A7", "http://0177.0.0.1:{port}/7", BLOCKED),
    Row("A8", "http://0x7f.1:{port}/8", BLOCKED),
    Row("A9", "http://127.1:{port}/9", BLOCKED),
    Row("A10", "http://017700000001:{port}/10", BLOCKED),
    Row("A11", "http://①②⑦.⓪.⓪.①:{port}/11", BLOCKED),
    Row("A12", "http://127。0。0。1:{port}/12", BLOCKED),
    Row("A13", "http://１２７.0.0.1:{port}/13", BLOCKED),
    Row("A14", "http://127.0.0.1%00.example.com:{port}/", "bad_host"),
    Row("A15", "http://localhost:{port}/15", BLOCKED),
    Row("A15", "http://localhost.:{port}/15a", BLOCKED),
    Row("A15", "http://LOCALHOST:{port}/15b", BLOCKED),
    Row("A16", "http://[::1]:{port}/16", BLOCKED),
    Row("A17", "http://[::]:{port}/17", BLOCKED),
    Row("A18", "http://[::ffff:127.0.0.1]:{port}/18", BLOCKED),
    Row("A18", "http://[::ffff:7f00:1]:{port}/18a", BLOCKED),
    Row("A19", "http://[::127.0.0.1]:{port}/19", BLOCKED),
    Row("A20", "http://[64:ff9b::7f00:1]:{port}/20", BLOCKED),
    Row("A21", "http://[2002:7f00:1::1]:{port}/21", BLOCKED),
    Row("A28", "http://half-inside.test:{port}/28", BLOCKED),
    Row("A29", "http://half-inside6.test:{port}/29", BLOCKED),
    Row("A32", "http://127.0.0.1.nip.test:{port}/32", BLOCKED),
    Row("A32", "http://six.nip.test:{port}/32a", BLOCKED),
    Row("B37", "http://example.test@127.0.0.1:{port}/", "userinfo"),
    Row("B38", "http://127.0.0.1:{port}#@example.test/", BLOCKED),
    Row("B38", "http://127.0.0.1:{port}?@example.test/", BLOCKED),
    Row("B39", "http:127.0.0.1:{port}/", "no_host"),
    Row("B39", "http:///127.0.0.1:{port}/", "no_host"),
]
# What names of A28 to A32 resolve to; the port is that of the URL.
NAMES = {
    "localhost": ("127.0.0.2", "::1"),
    "half-inside.test": ("93.184.216.34", "127.0.0.2"),
    "half-inside6.test": ("93.184.216.34", "::1"),
    "127.0.0.1.nip.test": ("127.0.0.2",),
    "six.nip.test": ("::1",),
}

ELSEWHERE = [
    Row("A20", "http://[64:ff9b::a9fe:a9fe]/", BLOCKED),
    Row("A20", "http://[64:ff9b:1::1]/", BLOCKED),
    Row("A21", "http://[2002:a9fe:a9fe::1]/", BLOCKED),
    Row("A22", "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", BLOCKED),
    Row("A23", "http://[fe80::1%25eth0]/", "bad_host"),
    Row("A23", "http://[fe80::1]/", BLOCKED),
    Row("A23", "http://[fc00::1]/", BLOCKED),
    Row("A23", "http://[fec0::1]/", BLOCKED),
    Row("A23", "http://[ff02::1]/", BLOCKED),
    Row("A24", "http://10.0.0.0/", BLOCKED),
    Row("A24", "http://10.255.255.255/", BLOCKED),
    Row("A24", "http://172.16.0.0/", BLOCKED),
    Row("A24", "http://172.31.255.255/", BLOCKED),
    Row("A24", "http://192.168.0.0/", BLOCKED),
    Row("A24", "http://192.168.255.255/", BLOCKED),
    Row("A25", "http://100.64.0.1/", BLOCKED),
    Row("A25", "http://100.127.255.254/", BLOCKED),
    Row("A26", "http://169.254.169.254/latest/meta-data/", BLOCKED),
    Row("A26", "http://169.254.170.2/", BLOCKED),
    Row("A26", "http://[fd00:ec2::254]/", BLOCKED),
    Row("A26", "http://100.100.100.200/", BLOCKED),
    Row("A26", "http://192.0.0.192/", BLOCKED),
    Row("A26", "http://168.63.129.16/", BLOCKED),
    Row("A26", "http://metadata.google.internal/", BLOCKED),
    Row("A27", "http://198.18.0.1/", BLOCKED),
    Row("A27", "http://192.0.2.1/", BLOCKED),
    Row("A27", "http://198.51.100.1/", BLOCKED),
    Row("A27", "http://203.0.113.1/", BLOCKED),
    Row("A27", "http://240.0.0.1/", BLOCKED),
    Row("A27", "http://255.255.255.255/", BLOCKED),
    Row("A27", "http://224.0.0.1/", BLOCKED),
    Row("A27", "http://192.88.99.1/", BLOCKED),
    Row("A27", "http://[3fff::1]/", BLOCKED),
    Row("A27", "http://[5f00::1]/", BLOCKED),
    Row("A34", "http://93.184.216.34:22/", BLOCKED),
    Row("A34", "http://93.184.216.34:25/a", BLOCKED),
    Row("A34", "http://93.184.216.34:5432/b", BLOCKED),
    Row("A34", "http://93.184.216.34:6379/c", BLOCKED),
    Row("A34", "http://93.184.216.34:9200/d", BLOCKED),
    Row("A34", "http://93.184.216.34:11211/e", BLOCKED),
]

SPELLINGS = [
    Row("B35", "http://169.254.169.254:80\\@example.test/", "backslash"),
    Row("B36", "http://example.test\\@169.254.169.254/", "backslash"),
    Row("B37", "http://example.test@169.254.169.254/", "userinfo"),
    Row("B38", "http://169.254.169.254#@example.test/", BLOCKED),
    Row("B38", "http://169.254.169.254?@example.test/", BLOCKED),
    Row("B39", "http:/169.254.169.254/", "no_host"),
    Row("B42", "http://example.test:99999/", "bad_port"),
    Row("B42", "http://example.test:-1/", "bad_port"),
    Row("B42", "http://example.test:٨٠/", "bad_port"),
    Row("B42", "http://example.test:80:80/", "bad_port"),
    Row("B43", "http://[::1", "bad_host"),
    Row("B43", "http://[example.test]/", "bad_host"),
    Row("B43", "http://[[x]]/", "bad_host"),
    Row("B46", "file:///etc/passwd", "unsupported_scheme"),
    Row("B46", "file:/etc/passwd", "unsupported_scheme"),
    Row("B46", "source:file:///etc/passwd", "unsupported_scheme"),
    Row("B46", "gopher://127.0.0.1:{port}/", "unsupported_scheme"),
    Row("B46", "ftp://127.0.0.1:{port}/", "unsupported_scheme"),
    Row("B46", "data:text/html,x", "unsupported_scheme"),
    Row("B46", "javascript:alert(1)", "unsupported_scheme"),
    Row("B46", "jar:http://127.0.0.1:{port}/!/", "unsupported_scheme"),
    Row("B46", "dict://127.0.0.1:{port}/", "unsupported_scheme"),
    Row("B46", "s3://bucket/", "unsupported_scheme"),
    Row("B46", "view-source:http://127.0.0.1:{port}/", "unsupported_scheme"),
    Row("B47", "http://example.test/" + "a" * 8_000, "too_long"),
    Row("B49", f"http://{'a' * 64}.test/", "bad_host"),
]
# Spellings a person or a feed can give, but no header can carry.
RAW_SPELLINGS = [
    Row("A14", "http://127.0.0.1\0.example.test:{port}/", "control_character"),
    Row("B40", " http://127.0.0.1:{port}/", "surrounding_space"),
    Row("B40", "\0http://127.0.0.1:{port}/", "control_character"),
    Row("B40", "\thttp://127.0.0.1:{port}/", "control_character"),
    Row("B40", "ht\ntp://127.0.0.1:{port}/", "control_character"),
    Row("B45", "http://example.test/\r\nHost: x", "control_character"),
    Row("B47", "http://example.test/" + "a" * 1_000_000, "too_long"),
    Row("B49", f"http://{'.'.join('a' * 10_000)}/", "too_long"),
]

AT_DEFAULT_PORT = [*ELSEWHERE, *SPELLINGS]
IN_A_HEADER = [*LOOPBACK, *AT_DEFAULT_PORT]
EVERYWHERE = [*IN_A_HEADER, *RAW_SPELLINGS]

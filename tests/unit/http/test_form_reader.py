"""The native reader of forms works wherever its object happens to lie in memory."""

from __future__ import annotations

from tarmac._native import FormReader

FORM = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1' + b"." * 100 + b"\r\n--x--\r\n"


def test_readers_at_many_addresses_read_alike():
    """What searches with vectors must not depend on the 16 bytes to which Python aligns objects."""
    readers = [FormReader("multipart/form-data; boundary=x") for _ in range(64)]
    assert 1 < len({id(reader) % 64 for reader in readers})
    first, *others = [reader.feed(FORM) for reader in readers]
    assert "a" == first[0][0]
    assert [first] * 63 == others

"""Pictures, sounds and files: what they cost, and what makes two of them the same."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.history import attachments
from memtree.history.address_chain import digest
from memtree.history.attachments import FLAT_TOKENS, Base64Data, image_tokens, part_tokens
from memtree.history.message import Message, Volatile
from memtree.text import tokens

# ------------------------------------------------------------------------------------------------
# Check what pictures, sounds and files cost: by their headers, without decoding them.


def encoded(data: bytes, kind: str = "") -> str:
    text = base64.b64encode(data).decode()
    return f"data:{kind};base64,{text}" if kind else text


def letters(text: str) -> int:
    return len(text)


# ---------------------------------------------------------------- bytes inside base64


@given(st.binary(max_size=60), st.integers(0, 70), st.integers(0, 70), st.sampled_from(["", "a/b"]))
def test_any_piece_can_be_read(data, offset, size, kind):
    assert Base64Data.of(encoded(data, kind)).read(offset, size) == data[offset : offset + size]
    assert Base64Data.of(encoded(data, kind)).length == len(data)


def test_the_other_alphabet_and_no_padding():
    data = bytes(range(256))
    text = base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert "-" in text
    assert Base64Data.of(text).read(0, 256) == data
    assert Base64Data.of("DATA:image/PNG;charset=x;BASE64,AAAA").kind == "image/png"


@pytest.mark.parametrize(
    "text",
    ["", "data:image/png,abc", "data:;base64", "AA*A", "日本語です", "A", "AA==AAAA", "\ud800"],
)
def test_what_is_no_base64_has_no_bytes(text):
    assert Base64Data.of(text).read(0, 9) == b""


def test_only_what_is_asked_for_is_decoded():
    """The rest is no base64 at all."""
    text = encoded(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\0" * 30)
    assert attachments.image_size(Base64Data.of(text + "*" * 100)) == (640, 480)


# ---------------------------------------------------------------- pictures


def png(width, height):
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\xf7\0\0" + b"\0" * 20


def jpeg(width, height, frame=0xC0, before=()):
    segments = b"".join(
        b"\xff" + bytes([marker]) + struct.pack(">H", 2 + len(data)) + data
        for marker, data in before
    )
    header = struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 9
    return b"\xff\xd8" + segments + b"\xff" + bytes([frame]) + header + b"\xff\xd9"


def riff(kind, data):
    return b"RIFF" + struct.pack("<I", 12 + len(data)) + b"WEBP" + kind + b"\0\0\0\0" + data


def vp8(width, height):
    return riff(b"VP8 ", b"\x30\x03\0\x9d\x01\x2a" + struct.pack("<HH", width | 1 << 14, height))


def vp8l(width, height):
    return riff(b"VP8L", b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14) + b"\0" * 9)


def vp8x(width, height):
    sides = b"".join(struct.pack("<I", side - 1)[:3] for side in (width, height))
    return riff(b"VP8X", b"\x08\0\0\0" + sides)


EXIF = (0xE1, b"Exif\0\0" + b"\xff\xc0" * 30_000)  # a thumbnail's frame header is not the picture's
PROFILE = (0xE2, b"ICC_PROFILE" + b"p" * 60_000)
TABLES = ((0xDB, b"\0" * 65), (0xC4, b"\0" * 400), (0xCC, b"\0" * 9))


@pytest.mark.parametrize(
    "data",
    [
        png(1920, 1080),
        gif(1920, 1080),
        jpeg(1920, 1080),
        jpeg(1920, 1080, 0xC2),
        jpeg(1920, 1080, 0xC1, TABLES),
        jpeg(1920, 1080, 0xC2, (EXIF, PROFILE, PROFILE, *TABLES)),
        jpeg(1920, 1080).replace(b"\xff\xc0", b"\xff\xff\xff\xc0"),
        vp8(1920, 1080),
        vp8l(1920, 1080),
        vp8x(1920, 1080),
    ],
    ids=lambda data: data[:16],
)
def test_width_and_height(data):
    assert attachments.image_size(Base64Data.of(encoded(data, "image/x"))) == (1920, 1080)


# What a real encoder wrote, 37 x 23 pixels.
REAL = {
    "png": "iVBORw0KGgoAAAANSUhEUgAAACUAAAAXCAIAAAADThHyAAAAKElEQVR4nGPk",
    "gif": "R0lGODdhJQAXAIEAAAljxwAAAAAAAAAAACwAAAAAJQAXAEAIMQABCBxIsKDB",
    "lossy": "UklGRkYAAABXRUJQVlA4IDoAAAAwAwCdASolABcAP5nK3Wc5Mi0npWgDIDMJ",
    "lossless": "UklGRh4AAABXRUJQVlA4TBEAAAAvJIAFAAfQsSb0uP+BiOh/AAA=",
}


@pytest.mark.parametrize("name", REAL)
def test_real_headers(name):
    assert attachments.image_size(Base64Data.of(REAL[name])) == (37, 23)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        png(0, 5),
        png(5, 5).replace(b"IHDR", b"CgBI"),
        b"\xff\xd8",
        b"\xff\xd8" + b"\xff\xe0\0\x02" * 300,
        b"\xff\xd8" + b"\xff" * 900,
        b"\xff\xd8\xff\xe1\xff\xff" + b"x" * 40,
        jpeg(5, 5, 0xC4),
        riff(b"VP8 ", b"\0" * 20),
        riff(b"VP9 ", b"\0" * 20),
        b"BM" + b"\0" * 60,
        b"<svg xmlns='http://www.w3.org/2000/svg' width='5' height='5'/>",
    ],
)
def test_pictures_without_a_size(data):
    assert attachments.image_size(Base64Data.of(encoded(data))) is None
    assert part_tokens(image(encoded(data, "image/png")), letters) == FLAT_TOKENS


@given(
    st.binary(max_size=80), st.sampled_from([b"\xff\xd8\xff", b"RIFF0000WEBP", b"GIF8", b"%PDF-"])
)
def test_broken_headers_are_no_crash(data, begin):
    whole = Base64Data.of(encoded(begin + data))
    attachments.image_size(whole), attachments.pdf_pages(whole)


@pytest.mark.parametrize(
    ("width", "height", "detail", "found"),
    [
        (1, 1, "auto", 255),  # one tile
        (512, 512, "auto", 350),  # its area
        (1024, 1024, "high", 1_399),
        (1024, 1024, "original", 1_399),  # 1,024 patches are fewer
        (2048, 4096, "high", 2_500),
        (1000, 100, "auto", 425),  # two tiles: never made larger
        (4000, 200, None, 1_067),
        (1920, 1080, "auto", 2_500),
        (1920, 1080, "original", 2_500),
        (3840, 2160, "original", 8_160),
        (9000, 9000, "original", 10_000),
        (100_000, 1, "auto", 765),
        (1 << 31, 1 << 31, "original", 10_000),
    ],
)
def test_tokens_of_a_picture(width, height, detail, found):
    assert image_tokens(width, height, detail) == found


def image(url, **more):
    return {"type": "image_url", "image_url": {"url": url, **more}}


SCREEN = encoded(png(1920, 1080), "image/png")


@pytest.mark.parametrize(
    "part",
    [
        image(SCREEN),
        image(SCREEN, detail="high"),
        {"type": "image_url", "image_url": SCREEN},
        {"type": "input_image", "image_url": SCREEN, "detail": "auto"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                     "data": encoded(png(1920, 1080))}},
        {"type": "image", "mimeType": "image/png", "data": encoded(png(1920, 1080))},
        {"type": "file", "file": {"filename": "a.png", "file_data": SCREEN}},
    ],
)  # fmt: skip
def test_every_spelling_of_an_image(part):
    assert part_tokens(part, letters) == 2_500


@pytest.mark.parametrize(
    "part", [image(SCREEN, detail="low"), {"type": "input_image", "image_url": SCREEN,
                                          "detail": "low"}]
)  # fmt: skip
def test_low_detail(part):
    assert part_tokens(part, letters) == attachments.LOW_DETAIL_TOKENS


@pytest.mark.parametrize(
    "part",
    [
        image("https://example.org/" + "a" * 400),
        image("data:image/png;base64,"),
        image("data:image/png;base64,AAAA"),
        {"type": "image_url"},
        {"type": "image_url", "image_url": None},
        {"type": "file", "file": {"file_id": "file-abc"}},
        {"type": "file", "file": {"filename": "a.zip",
                                  "file_data": encoded(b"PK\3\4" + b"\0" * 900)}},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "audio_url", "audio_url": {"url": "https://example.org/" + "a" * 400}},
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_flat_price(part):
    assert part_tokens(part, letters) == FLAT_TOKENS


# ---------------------------------------------------------------- sounds


@pytest.mark.parametrize(
    ("format_", "size"),
    [
        *(("wav", 320_000), ("WAV", 320_000), ("x-wav", 320_000), ("wave", 320_000)),
        *(("vnd.wave", 320_000), ("pcm16", 320_000), ("mp3", 80_000), ("opus", 40_000)),
    ],
)
def test_ten_seconds_of_sound_are_priced_by_their_size(format_, size):
    sound = {"data": encoded(b"\1" * size), "format": format_}
    assert part_tokens({"type": "input_audio", "input_audio": sound}, letters) == 320
    url = encoded(b"\1" * size, f"audio/{format_}")
    assert part_tokens({"type": "audio_url", "audio_url": {"url": url}}, letters) == 320


# ---------------------------------------------------------------- files


def pdf(number, *, before=b"", behind=b"", first=False):
    tree = b"2 0 obj\n<< /Type /Pages /Kids [ %s] /Count %d >>\nendobj\n" % (b"3 0 R " * 40, number)
    if first:
        tree = b"2 0 obj <</Count %d/Kids[3 0 R]/Type/Pages>> endobj\n" % number
    return b"%PDF-1.7\n" + before + tree + behind + b"trailer\n%%EOF\n"


OUTLINES = b"9 0 obj << /Type /Outlines /Count 99999 >> endobj\n"
BRANCH = b"8 0 obj << /Type /Pages /Parent 2 0 R /Count 3 >> endobj\n"


@pytest.mark.parametrize(
    "data",
    [
        pdf(12),
        pdf(12, first=True),
        pdf(12, before=OUTLINES + BRANCH, behind=BRANCH + OUTLINES),
        pdf(12, before=b"\0" * 900_000),
        pdf(12, behind=b"\0" * 900_000),
        b"%PDF-1.5\n1 0 obj <</Linearized 1/L 9/H [ 1 2]/O 3/E 4/N 12/T 5>> endobj"
        + b"\0" * 999_999,
        b"%PDF-1.4\n" + b"<< /Type /Page /Parent 2 0 R >>\n" * 12,
        b"%PDF-1.5\n" + b"\1" * (12 * attachments.PAGE_BYTES),
    ],
    ids=["kids", "count", "others", "end", "begin", "linear", "few", "packed"],
)
def test_pages_of_a_pdf(data):
    assert attachments.pdf_pages(Base64Data.of(encoded(data))) == 12
    part = {"type": "file", "file": {"filename": "a.pdf", "file_data": encoded(data, "a/pdf")}}
    assert part_tokens(part, letters) == 12 * attachments.PAGE_TOKENS


def test_a_pdf_has_a_page_and_not_a_million():
    assert attachments.pdf_pages(Base64Data.of(encoded(b"%PDF-1.4 nothing"))) == 1
    part = {"type": "file", "file": {"file_data": encoded(pdf(999_999), "application/pdf")}}
    assert part_tokens(part, letters) == attachments.PAGES * attachments.PAGE_TOKENS


NOTES = "Où est le café? " * 40


@pytest.mark.parametrize(
    "file",
    [
        {"file_data": encoded(NOTES.encode(), "text/markdown")},
        {"file_data": encoded(NOTES.encode(), "application/json")},
        {"file_data": encoded(NOTES.encode()), "filename": "notes.txt"},
    ],
)
def test_a_file_of_text_costs_its_text(file):
    assert part_tokens({"type": "file", "file": file}, letters) == len(NOTES)


def test_a_document_that_is_text_costs_it():
    part = {"type": "document", "source": {"type": "text", "data": NOTES * 9}}
    assert part_tokens(part, letters) == pytest.approx(len(NOTES) * 9, rel=0.02)


def test_a_huge_file_of_text_is_not_read():
    text = encoded(b"x" * 4_000_000, "text/plain")
    assert part_tokens({"type": "file", "file": {"file_data": text}}, letters) == 1_333_333


def test_video_has_a_price_of_its_own():
    part = {"type": "video_url", "video_url": {"url": "data:video/mp4;base64," + "A" * 10_000}}
    assert part_tokens(part, letters) == attachments.VIDEO_TOKENS


# ---------------------------------------------------------------- any other part


def test_data_is_never_counted_as_text():
    data = encoded(b"\7" * 3_000_000)
    for part in (
        {"type": "hologram", "data": data},
        {"type": "hologram", "inner": [{"deep": {"data": f"data:x/y;base64,{data}"}}]},
        {"type": "redacted_thinking", "data": data},
        {"type": "tool_result", "content": [{"type": "image", "data": data}]},
    ):
        assert FLAT_TOKENS <= part_tokens(part, tokens.count) < FLAT_TOKENS + 30


def test_short_data_costs_a_fifth():
    assert attachments.loose_tokens({"signature": "Q" * 1_000}, letters) == len("signature") + 200


@pytest.mark.parametrize("text", ["word " * 99, "日本語" * 99, "short", "a.b" * 200, "data, it is"])
def test_text_is_text(text):
    assert attachments.loose_tokens([text], letters) == len(text)


def test_numbers_and_keys_count_and_nothing_counts_nothing():
    assert attachments.loose_tokens({"a": [1, None, True]}, letters) == len("a 1 True")
    assert attachments.loose_tokens(None, letters) == attachments.loose_tokens({}, letters) == 0


def test_depth_is_bounded():
    value: object = "x" * 50
    for _ in range(5_000):
        value = [value]
    assert attachments.loose_tokens(value, letters) == 0


# ------------------------------------------------------------------------------------------------
# One picture, sound or file has one identity, however it is wrapped.


BYTES = bytes(range(256)) * 9
DATA = base64.b64encode(BYTES).decode()
URL = "https://example.com/a.png"


def name(part):
    return digest(Message.of({"role": "user", "content": [part]}), Volatile())


PICTURE = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}", "detail": "low"}},
    {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/PNG", "data": DATA},
     "cache_control": {"type": "ephemeral"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png",
     "data": DATA.replace("+", "-").replace("/", "_")}},
]  # fmt: skip
FILE = [
    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}"}},
    {"type": "input_file", "file_data": f"data:application/pdf;base64,{DATA}"},
    {"type": "document",
     "source": {"type": "base64", "media_type": "application/pdf", "data": DATA}},
]  # fmt: skip
LINK = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "input_image", "image_url": URL},
    {"type": "image", "source": {"type": "url", "url": URL}},
]


@pytest.mark.parametrize("parts", [PICTURE, FILE, LINK], ids=["picture", "file", "link"])
def test_wrappings_do_not_count(parts):
    assert len({name(part) for part in parts}) == 1


def test_content_type_and_address_count():
    other = base64.b64encode(BYTES[:-1] + b"!").decode()
    parts = [
        PICTURE[0],
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{DATA}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{other}"}},
        LINK[0],
        {"type": "image_url", "image_url": {"url": URL + "?"}},
        FILE[0],
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}",
                                  "filename": "plan.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_id": "file-2"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "mp3"}},
    ]  # fmt: skip
    assert len({name(part) for part in parts}) == len(parts)


def test_unknown_parts_are_hashed_whole():
    parts = [
        {"type": "widget", "id": "w", "state": 1},
        {"type": "widget", "id": "w", "state": 2},
        {"type": "widget", "url": "u", "state": 1},
    ]
    assert len({name(part) for part in parts}) == 3
    assert name(parts[0]) == name({"state": 1, "id": "w", "type": "widget"})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,???"}},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "image_url", "image_url": None},
        {"type": "image", "source": {"type": "base64", "data": "é" * 50}},
        {"type": "input_audio", "input_audio": {"data": 7, "format": []}},
        {"type": "file", "file": {"file_data": "data:;base64,"}},
    ],
)
def test_what_cannot_be_read_still_has_a_name(part):
    assert name(part) == name(part)
    assert name(part) != name({**part, "type": f"other {part['type']}"})

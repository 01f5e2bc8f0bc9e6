"""What the programs of the clients share: their address and keys, their cases, and the report of each."""

import base64
import json
import os
import struct
import sys
import traceback
import zlib

ORIGIN = os.environ["ORIGIN"]
BASE_URL = f"{ORIGIN}/v1"
KEY = os.environ["KEY"]
# Of a customer whose balance is enough for a few calls.
POOR_KEY = os.environ["POOR_KEY"]
MODELS = os.environ["MODELS"].split(",")

# The sandbox calls what a task writes down, one call after the other, and then reports the last result.
TASK = 'Faça:\nchame clima {"cidade": "Recife"}\nchame clima {"cidade": "Belém"}'
CITIES = ["Recife", "Belém"]
REPORT = "A ferramenta clima devolveu: “sol”"
GREETING = "Olá, catraca!"
CALLS_MAX = 200


def png() -> str:
    """A dot of one pixel, in base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


IMAGE = f"data:image/png;base64,{png()}"


def same(found, wanted) -> None:
    assert found == wanted, f"{found!r} is not {wanted!r}"


def holds(text, part: str) -> None:
    assert part in str(text), f"{part!r} is not in {str(text)[:2000]!r}"


def fails(call, kind: type[BaseException], status: int | None = None) -> BaseException:
    """Returns the client's own error, which has this status."""
    try:
        call()
    except kind as error:
        if status is not None:
            same(getattr(error, "status_code", None), status)
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def spend(call, kind: type[BaseException], status: int | None = 402) -> BaseException:
    """Calls until the balance is spent, which is after the first call."""
    call()
    for _ in range(CALLS_MAX):
        try:
            call()
        except kind as error:
            if status is not None:
                same(getattr(error, "status_code", None), status)
            return error
    raise AssertionError("the balance did not end")


def run(balance, **cases) -> None:
    """Runs each case with each model, and the end of the balance with one, and reports each in a line."""
    for name, case in cases.items():
        for model in MODELS:
            report(f"{name} ({model})", lambda: case(model))
    report("balance", lambda: balance(MODELS[0]))


def report(name: str, case) -> None:
    fault = None
    try:
        case()
    except BaseException:
        fault = traceback.format_exc()
    print(json.dumps({"case": name, "fault": fault}), file=sys.__stdout__, flush=True)

#!/usr/bin/env python3
"""Re-derives key_vectors.tsv from the written rule alone, without the engine's code.

    python3 key_vectors.py > key_vectors.tsv

A key is a sequence of words and byte strings. Starting from SEED, each 64-bit word w moves the
state s to fold(s ^ w, STEP) + SEED, where fold is the 128-bit product's low half XOR its high half.
A byte string is its whole little-endian words, then its rest, padded with zeros, as one word
folded with STEP ^ 2 * length. The hash is h ^ (h >> 29) with h = fold(s ^ LAST, STEP).
"""
import struct

M = (1 << 64) - 1
SEED, STEP, LAST = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD


def fold(a, b):
    return ((a * b) & M) ^ ((a * b) >> 64)


def words(*all_words):
    return lambda s: [s := (fold(s ^ (w & M), STEP) + SEED) & M for w in all_words][-1]


def string(b):
    def add(s):
        whole = len(b) - len(b) % 8
        for i in range(0, whole, 8):
            s = words(int.from_bytes(b[i : i + 8], "little"))(s)
        rest = int.from_bytes(b[whole:], "little")
        return (fold(s ^ rest, STEP ^ (2 * len(b))) + SEED) & M

    return add


def double(bits):
    (x,) = struct.unpack("<d", struct.pack("<Q", bits))
    return words(0x7FF8 << 48 if x != x else 0 if x == 0 else bits)


def single(bits):
    (x,) = struct.unpack("<f", struct.pack("<I", bits))
    (wide,) = struct.unpack("<Q", struct.pack("<d", x))
    return double(wide)


def finish(*parts):
    s = SEED
    for part in parts:
        s = part(s)
    h = fold(s ^ LAST, STEP)
    return h ^ (h >> 29)


def row(kind, key, *parts):
    print(f"{kind}\t{key}\t{finish(*parts):016x}")


print("# kind, key, hash; text and bytes in hexadecimal, floats by their bits. See key_vectors.py.")
for n in [0, 1, 2, 7, 255, 65536, 1 << 31, 1 << 32, 1 << 63, M]:
    row("u64", n, words(n))
for n in [-1, -(1 << 63), (1 << 63) - 1, -32768]:
    row("i64", n, words(n))
row("i32", -1, words(-1))
row("u8", 200, words(200))
row("bool", "true", words(1))
row("char", "é", words(0xE9))
for n in [0, 1, (1 << 128) - 1]:
    row("u128", n, string(n.to_bytes(16, "little")))
row("i128", -1, string(b"\xff" * 16))
texts = ["", "a", "b", "é", "e\u0301", "storm", "1234567", "12345678", "123456789", "κόσμος"]
texts += ["the quick brown fox jumps over the lazy dog"]
for text in texts:
    row("text", text.encode().hex(), string(text.encode()))
for raw in [b"", b"\0", b"\0\0", b"\xff\xfe", b"\0" * 8, b"\0" * 9, bytes(range(32))]:
    row("bytes", raw.hex(), string(raw))
for length in range(1, 17):
    raw = bytes(0x81 + 7 * i for i in range(length))
    row("bytes", raw.hex(), string(raw))
for bits in [
    0, 1 << 63, 0x3FF0 << 48, 0xBFF0 << 48, 0x7FF0 << 48, 0xFFF0 << 48, 1, (1 << 63) | 1,
    0x7FF8 << 48, (0x7FF8 << 48) | 7, 0xFFF8 << 48, (0x7FF0 << 48) | 1, 0x400921FB54442D18,
]:
    row("f64", f"{bits:016x}", double(bits))
for bits in [0, 1 << 31, 0x3F800000, 0x7F800000, 0x7FC00000, 0xFFC00001, 1, 0x3DCCCCCD]:
    row("f32", f"{bits:08x}", single(bits))
row("text,text", "6162,63", string(b"ab"), string(b"c"))
row("text,text", "61,6263", string(b"a"), string(b"bc"))
row("text,u64", "75736572,42", string(b"user"), words(42))
row("u64,u64,u64", "1,2,3", words(1), words(2), words(3))
row("option u64", "none", words(0))
row("option u64", "0", words(1), words(0))

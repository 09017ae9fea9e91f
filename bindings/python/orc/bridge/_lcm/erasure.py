"""Forward error correction: Cauchy Reed-Solomon over GF(2^8), as schemas/PROTOCOL.md has it for multicast.

Parity shard p of k data shards is the sum over j of data[j] / ((k + p) xor j). bytes.translate multiplies a whole shard
by a constant, and int adds shards, so no library is needed.
"""

from __future__ import annotations

import functools
from typing import Dict, List, Sequence

_POLYNOMIAL = 0x11D

_EXP = [1] * 512
for _power in range(1, 512):
    _next = _EXP[_power - 1] << 1
    _EXP[_power] = _next ^ _POLYNOMIAL if _next & 0x100 else _next
_LOG = {_EXP[power]: power for power in range(255)}


def _multiply(a: int, b: int) -> int:
    return _EXP[_LOG[a] + _LOG[b]] if a and b else 0


def _inverse(a: int) -> int:
    return _EXP[255 - _LOG[a]]


@functools.lru_cache(maxsize=256)
def _table(factor: int) -> bytes:
    return bytes(_multiply(factor, each) for each in range(256))


def _coefficient(k: int, parity: int, data: int) -> int:
    return _inverse((k + parity) ^ data)


def _sum(factors: Sequence[int], shards: Sequence[bytes]) -> bytes:
    """Returns the sum of the shards, each times its factor. All have the same size."""
    total = 0
    for factor, shard in zip(factors, shards):
        if factor:
            total ^= int.from_bytes(shard.translate(_table(factor)), "little")
    return total.to_bytes(len(shards[0]), "little")


def parity(data: Sequence[bytes], count: int) -> List[bytes]:
    """Returns `count` parity shards of data shards of one size. At most 256 shards together."""
    k = len(data)
    return [_sum([_coefficient(k, p, j) for j in range(k)], data) for p in range(count)]


def recover(k: int, shards: Dict[int, bytes]) -> List[bytes]:
    """Returns the k data shards. shards: k of them or more by index, data from 0 on, parity from k on, of one size."""
    missing = [j for j in range(k) if j not in shards]
    present = [j for j in range(k) if j in shards]
    used = sorted(index for index in shards if index >= k)[: len(missing)]
    # What the parity has of the missing ones alone, as equations.
    right = []
    for index in used:
        factors = [1] + [_coefficient(k, index - k, j) for j in present]
        right.append(_sum(factors, [shards[index]] + [shards[j] for j in present]))
    solved = _inverted([[_coefficient(k, index - k, j) for j in missing] for index in used])
    found = {j: _sum(solved[row], right) for row, j in enumerate(missing)}
    return [shards[j] if j in shards else found[j] for j in range(k)]


def _inverted(matrix: List[List[int]]) -> List[List[int]]:
    """Gauss-Jordan. Each square part of a Cauchy matrix has an inverse."""
    size = len(matrix)
    rows = [row + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next(i for i in range(column, size) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = _inverse(rows[column][column])
        rows[column] = [_multiply(scale, each) for each in rows[column]]
        for i in range(size):
            factor = rows[i][column]
            if i != column and factor:
                rows[i] = [a ^ _multiply(factor, b) for a, b in zip(rows[i], rows[column])]
    return [row[size:] for row in rows]

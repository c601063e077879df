# SPDX-License-Identifier: MIT
"""What an aggregate must say, by exact rational arithmetic and by a second
reading of the layout of histograms; shares nothing with the C sources."""

import math
from fractions import Fraction

MAX, MIN = 2**63 - 1, -2**63


def wrap(v):
    return (v + 2**63) % 2**64 - 2**63


def toward_zero(f):
    return int(f)  # Fraction's int() truncates


def variance(v):
    n = len(v)
    if n < 2:
        return 0
    s = sum(v)
    return min(MAX, toward_zero(Fraction(n * sum(x * x for x in v) - s * s,
                                         n * (n - 1))))


def simple(v):
    """Every operator with one right answer."""
    return {
        'count': len(v), 'sum': wrap(sum(v)), 'min': min(v), 'max': max(v),
        'avg': toward_zero(Fraction(sum(v), len(v))), 'variance': variance(v),
        'stddev': min(MAX, math.isqrt(toward_zero(Fraction(
            len(v) * sum(x * x for x in v) - sum(v)**2,
            max(1, len(v) * (len(v) - 1)))))),
    }


def quantile(ordered, part, whole):
    """Nearest rank."""
    rank = max(1, -(-len(ordered) * part // whole))
    return ordered[rank - 1]


def near(got, want):
    """The bound that the documentation states."""
    if abs(want) < 128:
        return got == want
    return abs(got - want) * 128 <= abs(want)


def octave(v):
    """The grid's bucket of a sample, as an object."""
    u = v if v >= 0 else -v - 1
    if u < 128:
        return (v < 0, u)
    e = u.bit_length() - 1
    return (v < 0, e, u * 64 // 2**e)


# --- histograms ---------------------------------------------------------------

def log_index(v):
    if v == 0:
        return 64
    return 64 + abs(v).bit_length() if v > 0 else 64 - abs(v).bit_length()


def log_label(i):
    if i == 64:
        return 0
    return 2**(i - 65) if i > 64 else -2**(63 - i)


def linear_index(v, lo, hi, step):
    n = (hi - lo) // step + 3
    return 0 if v < lo else min(n - 1, 1 + (v - lo) // step)


def histogram(v, linear=None, width=50, elision=2):
    """The text of print(@hist_...(x))."""
    if linear:
        lo, hi, step = linear
        n = (hi - lo) // step + 3
        index = [linear_index(x, lo, hi, step) for x in v]
    else:
        n = 128
        index = [log_index(x) for x in v]
    count = [0] * n
    for i in index:
        count[i] += 1
    low, high, top = min(index), max(index), max(count)
    for _ in range(2):
        if low > 0 and (linear or low != 64):
            low -= 1
        if high < n - 1:
            high += 1
    if linear:
        low += low == 0 and count[0] == 0
        high -= high == n - 1 and count[n - 1] == 0
        labels = [str(lo)] + [str(lo + i * step) for i in range(n - 2)]
        labels.append(labels[-1])
        labels[0] = '<' + labels[0]
        labels[-1] = '>' + labels[-1]
        column = max(5, len(str(lo)) + (low == 0),
                     len(str(lo + step * high)) + (high == n - 1))
    else:
        labels = [str(log_label(i)) for i in range(n)]
        column = max(5, len(labels[low]), len(labels[high]))
    scale = 1 if top <= width else -(-top // width)
    out = [f'{"value":>{column}} |{"-" * width} count']
    gap = False
    for i in range(low, high + 1):
        around = count[max(low, i - elision):min(high, i + elision) + 1]
        if elision >= 0 and not any(around):
            gap = True
            continue
        if gap:
            out.append(' ' * column + ' ~')
            gap = False
        bar = '@' * (count[i] // scale)
        out.append(f'{labels[i]:>{column}} |{bar}'
                   f'{count[i]:>{width - len(bar) + 1 + len(str(top))}}')
    return '\n'.join(out) + '\n\n'

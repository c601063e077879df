# SPDX-License-Identifier: MIT
"""Streams of samples that hurt: name -> numbers. Seeded, so a failure comes
again."""

import random

MAX, MIN = 2**63 - 1, -2**63


def streams(seed=1):
    r = random.Random(seed)
    return {
        'one': [7],
        'zero': [0] * 50,
        'constant': [123456789] * 1000,
        'largest': [MAX] * 300,
        'smallest': [MIN] * 300,
        'extremes': [MIN, MAX] * 200,
        'two-point': [r.choice([-3, 10**12]) for _ in range(999)],
        'latency': [5 * 10**9 + r.randint(-2 * 10**9, 2 * 10**9)
                    for _ in range(2000)],
        'jitter': [100 * 10**6 + r.randint(-50 * 10**6, 50 * 10**6)
                   for _ in range(2000)],
        'offset': [2**62 + r.randint(-2, 2) for _ in range(1500)],
        'negative': [-r.randint(1, 10**6) for _ in range(1500)],
        'small': [r.randint(-130, 130) for _ in range(3000)],
        'powers': [s * 2**e + d for e in range(62) for s in (-1, 1)
                   for d in (-1, 0, 1)],
        'any': [r.randint(MIN, MAX) for _ in range(2000)],
        'skewed': [int(r.paretovariate(0.3)) % 2**62 for _ in range(2000)],
        'normal': [int(r.gauss(1000, 250)) for _ in range(3000)],
    }

# SPDX-License-Identifier: MIT
"""Aggregates against lists of samples: fed, read by every operator, walked in
every order, deleted in between. Also fed by handlers in the kernel and read by
a timer, which is another path: there the samples come through the banks."""

import os
import sys

from machines import POINT, Case

sys.path.append(os.path.dirname(os.path.abspath(__file__)) + '/../oracle')
import exact  # noqa: E402

EXTREMES = [0, 1, -1, 2**63 - 1, -2**63, 2**31 - 1, 2**31, -2**31, 2**32, 127,
            128, -128, -129, 2**62, 5 * 10**9, -2**62 - 1]
LINEAR = (-6, 12, 4)
SINGLE = ['count', 'sum', 'min', 'max', 'avg', 'variance', 'stddev']
# name: number of keys, and what histogram it has
ARRAYS = {'a': (1, 'log'), 'b': (2, 'linear'), 'c': (9, None), 'd': (1, None)}
LETTERS = 'ijklmnopq'
TICK = 10  # ms
# what no rule types otherwise
DECLARE = '''global a, b, c, d, s, u, v, __tick
probe never { a[0] <<< 0 b["", 0] <<< 0 c["", 0, 0, 0, 0, 0, 0, 0, 0] <<< 0
d[0] <<< 0 s <<< 0 u <<< 0 v <<< 0 }'''


def number(v):
    return '(-0x7fffffffffffffff - 1)' if v == -2**63 else f'({v})'


def random_key(r, model, n):
    if model and r.random() < .5:
        return r.choice(list(model))
    # The first key is text where there are two.
    return tuple(r.choice(['', 'x', 'yy']) if n > 1 and i == 0
                 else r.randrange(-1, 3 if n < 9 else 1) for i in range(n))


def shown(k):
    return f'"{k}"' if isinstance(k, str) else str(k)


def inside(key):
    return ', '.join('*' if k is None else shown(k) for k in key)


def fits(key, pattern):
    return all(p is None or p == k for k, p in zip(key, pattern))


def feed(r, name, model, n, wide):
    value = r.choice(EXTREMES) if wide and r.random() < .3 else r.randrange(-20, 30)
    if not n:
        model.append(value)
        return f'{name} <<< {number(value)}'
    key = random_key(r, model, n)
    model.setdefault(key, []).append(value)
    return f'{name}[{inside(key)}] <<< {number(value)}'


def drop(r, name, model, n):
    if not n or r.random() < .2:
        model.clear()
        return f'delete {name}'
    pattern = random_key(r, model, n)
    if n > 1 and r.random() < .5:
        pattern = tuple(k if r.random() < .6 else None for k in pattern)
    for key in [k for k in model if fits(k, pattern)]:
        del model[key]
    return f'delete {name}[{inside(pattern)}]'


def row(at, samples):
    """All of one: those that need a sample raise an error without."""
    text = f'print(@count({at}), " ", @sum({at}));'
    want = f'{len(samples)} {exact.wrap(sum(samples))}'
    for op in SINGLE[2:]:
        text += f' try {{ print(" ", @{op}({at})) }} catch {{ print(" -") }}'
        want += f' {exact.simple(samples)[op]}' if samples else ' -'
    return text + ' println()', want + '\n'


def buckets(at, kind, samples):
    if kind == 'log':
        what, index = f'@hist_log({at})', exact.log_index
        places = [0, 60, 63, 64, 65, 66, 68, 127]
    else:
        what = f'@hist_linear({at}, {", ".join(map(str, LINEAR))})'
        places = list(range(7))

        def index(v):
            return exact.linear_index(v, *LINEAR)
    counts = [0] * 128
    for v in samples:
        counts[index(v)] += 1
    if not samples:
        return (f'try {{ println({what}[1]) }} catch {{ println("-") }}', '-\n')
    shows = ', " ", '.join(f'{what}[{i}]' for i in places)
    return (f'println({shows}); print({what})',
            ' '.join(str(counts[i]) for i in places) + '\n' + exact.histogram(
                samples, LINEAR if kind == 'linear' else None))


def read(r, name, model, n, kind):
    samples, at = model, name
    if n:
        key = random_key(r, model, n)
        samples, at = model.get(key, []), f'{name}[{inside(key)}]'
        if r.random() < .2:
            return f'println([{inside(key)}] in {name})', f'{int(key in model)}\n'
    if kind and r.random() < .4:
        return buckets(at, kind, samples)
    return row(at, samples)


def in_order(items, value, sign):
    """Those that are equal stay in the order of their first samples."""
    return sorted(items, key=value, reverse=sign == '-') if sign == '+' else [
        i for v in sorted({value(i) for i in items}, reverse=True)
        for i in items if value(i) == v]


def walk(r, name, model, n, names, known):
    """A foreach of a random form, what it prints, and whether the order of
    insertion shows in that. known: it is, as all is done by the host."""
    items = list(model.items())
    tie = len(items) > 1
    marks, sort = [''] * n, ''
    how, sign = r.randrange(4), r.choice('+-')
    if how == 1:
        at = r.randrange(n)
        marks[at] = sign
        tie = n > 1
        items = in_order(items, lambda i: i[0][at], sign)
    elif how > 1:
        op = r.choice(SINGLE)
        sort = f' @{op}{sign}'
        if r.random() < .1:
            op, sort = 'count', sign
        items = in_order(items, lambda i: exact.simple(i[1])[op], sign)
        tie = len(items) > len({exact.simple(v)[op] for _, v in items})
    pattern = tuple(None for _ in range(n))
    tail = ''
    if r.random() < .3:
        pattern = tuple(k if r.random() < .5 else None
                        for k in random_key(r, model, n))
        tail = f'[{inside(pattern)}]'
    tail += sort
    if r.random() < .4 and (known or not tie):
        most = r.randrange(-1, 6)
        tail += f' limit {most}'
        items = items[:max(0, most)]  # it counts those a slice leaves out
    items = [i for i in items if fits(i[0], pattern)]
    head = ', '.join(k + m for k, m in zip(names, marks))
    show = ', ":", '.join(names)
    op = r.choice(SINGLE)
    return (f'foreach ([{head}] in {name}{tail}) '
            f'print({show}, "=", @{op}({name}[{", ".join(names)}]), " ")\n'
            'println()',
            ''.join(':'.join(map(str, k)) + f'={exact.simple(v)[op]} '
                    for k, v in items) + '\n', tie)


def steps(r, wide, known):
    """(statement, what it prints, is it a sample, is its order open)."""
    models = {name: ({}, n, kind) for name, (n, kind) in ARRAYS.items()}
    models |= {'s': ([], 0, 'log'), 'u': ([], 0, 'linear'), 'v': ([], 0, None)}
    out, arrays = [], list(ARRAYS)
    for _ in range(50):
        name = r.choice(arrays * 2 + ['s', 'u', 'v'])
        model, n, kind = models[name]
        how = r.random()
        if how < .55:
            out.append((feed(r, name, model, n, wide), '', True, False))
        elif how < .65:
            out.append((drop(r, name, model, n), '', False, False))
        elif how < .8 or not n:
            out.append(read(r, name, model, n, kind) + (False, False))
        else:
            at = arrays.index(name)
            first = sum(ARRAYS[a][0] for a in arrays[:at])
            names = [f'{LETTERS[at]}{i}' for i in range(first, first + n)]
            text, line, tie = walk(r, name, model, n, names, known)
            out.append((text, line, False, tie))
    return out


def fed(todo):
    """The same steps, where a kernel's handler adds the samples and a timer
    reads: script and events. Each step that is no sample has a tick."""
    feeds, reads, events, ticks = '', '', [], 0
    for text, _, is_sample, _ in todo:
        if is_sample:
            now = ticks * TICK + TICK // 2
            feeds += f'if ($id == {len(events)}) {{ {text} }}\n'
            events.append(f'{now}ms {POINT} pid=7 args=0,{len(events)}')
        else:
            ticks += 1
            reads += f'if (__tick == {ticks}) {{ {text} }}\n'
    events.append(f'{(ticks + 1) * TICK}ms {POINT} pid=7 args=0,-1')
    return (f'probe {POINT} {{\n{feeds}}}\n'
            f'probe timer.ms({TICK}) {{ __tick++\n{reads}}}\n', events)


def cases(r):
    for part in range(6):
        # A kernel's handler reads the low 64 bits of a sum for @avg.
        wide, known = part % 2 == 1, part >= 4
        todo = steps(r, wide, known)
        body = ';\n'.join(step[0] for step in todo)
        want = [(text, line.encode()) for text, line, _, _ in todo]
        case = Case('stats/' + ('host' if known else 'fed' if wide else 'all'),
                    body, want, '', DECLARE)
        case.host_only = wide or known
        if not known:
            case.fed = fed(todo)
        # What kernel handlers made comes in the order of its keys.
        case.loose = {i for i, step in enumerate(todo) if step[3]}
        yield case

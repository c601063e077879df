# SPDX-License-Identifier: MIT
"""Arrays against a model that is a dictionary: it, too, keeps the order of
insertion. Elements are set, changed, deleted; then every foreach walks."""

from machines import Case, literal

TEXTS = [b'', b'a', b'b', b'ab', b'z', b'\xff']
ROOM = 4


class Model:
    def __init__(self, keys, wraps=False):
        self.keys, self.wraps, self.d = keys, wraps, {}

    def set(self, key, value):
        if self.wraps and key not in self.d and len(self.d) == ROOM:
            del self.d[next(iter(self.d))]  # the oldest makes room
        self.d[key] = value

    def drop(self, pattern):
        for key in [k for k in self.d if fits(k, pattern)]:
            del self.d[key]


def fits(key, pattern):
    return all(p is None or p == k for k, p in zip(key, pattern))


def shown(v):
    return literal(v) if isinstance(v, bytes) else f'({v})'


def printed(v):
    return v if isinstance(v, bytes) else b'%d' % v


def random_key(r, model):
    if model.d and r.random() < .5:
        return r.choice(list(model.d))
    return tuple(r.choice(TEXTS) if k == 's' else r.randrange(-2, 4)
                 for k in model.keys)


def change(r, name, model, values):
    """A statement, and what it does to the model."""
    key = random_key(r, model)
    at = f'{name}[{", ".join(map(shown, key))}]'
    how = r.randrange(6)
    old = model.d.get(key, b'' if values == 's' else 0)
    if how == 0:
        pattern = tuple(k if r.random() < .6 else None for k in key)
        if len(key) == 1 or r.random() < .5:
            pattern = key
        model.drop(pattern)
        inside = ', '.join('*' if p is None else shown(p) for p in pattern)
        return f'delete {name}[{inside}]'
    if values == 's':
        text = r.choice(TEXTS)
        model.set(key, text if how < 4 else old + text)
        return f'{at} {"=" if how < 4 else ".="} {literal(text)}'
    n = r.randrange(-3, 9)
    if how == 1:
        model.set(key, old + 1)
        return f'{at}++'
    model.set(key, n if how < 4 else old + n)
    return f'{at} {"=" if how < 4 else "+="} {n}'


def walk(r, name, model):
    """A foreach of a random form, and the line it prints."""
    names = 'xyz'[:len(model.keys)]
    items = list(model.d.items())
    marks, value, by = [''] * len(names), '', r.randrange(4)
    sign = r.choice('+-')
    if by == 1:
        at = r.randrange(len(names))
        marks[at] = sign
        items.sort(key=lambda i: i[0][at])
    elif by == 2:
        items.sort(key=lambda i: i[1])
        value = sign
    head = ', '.join(n + m for n, m in zip(names, marks))
    head = f'[{head}]' if len(names) > 1 or r.random() < .3 else head
    if by and by < 3 and sign == '-':
        # descending, and those that are equal stay in their order
        index = (lambda i: i[0][at]) if by == 1 else (lambda i: i[1])
        items = descending(list(model.d.items()), index)
    with_value = r.random() < .4
    tail = ''
    pattern = tuple(None for _ in names)
    if r.random() < .4:
        key = random_key(r, model)
        pattern = tuple(k if r.random() < .5 else None for k in key)
        tail = '[' + ', '.join('*' if p is None else shown(p)
                               for p in pattern) + ']'
    if with_value:
        head = f'v{value} = {head}'
    elif value:
        tail += value
    if r.random() < .4:
        most = r.randrange(-1, 6)
        tail += f' limit {most}'
        items = items[:max(0, most)]  # it counts those a slice leaves out
    items = [i for i in items if fits(i[0], pattern)]
    show = ', ":", '.join(names) + ', "="'
    line = b''.join(b':'.join(map(printed, k)) + b'=' + printed(v) + b' '
                    for k, v in items)
    what = 'v' if with_value else f'{name}[{", ".join(names)}]'
    return (f'foreach ({head} in {name}{tail}) print({show}, {what}, " ")\n'
            'println()', line + b'\n')


def descending(items, index):
    out = []
    for value in sorted({index(i) for i in items}, reverse=True):
        out += [i for i in items if index(i) == value]
    return out


def cases(r):
    for part in range(4):
        body, want = [], []
        arrays = {'a': (Model('l'), 'l'), 'b': (Model('ls'), 'l'),
                  'c': (Model('sls'), 's'), 'w': (Model('s', True), 'l'),
                  't': (Model('s'), 's')}
        for _ in range(40):
            name = r.choice(list(arrays))
            body.append(change(r, name, *arrays[name]))
        for _ in range(4):  # membership: still in the kernel
            name = r.choice(list(arrays))
            model = arrays[name][0]
            key = random_key(r, model)
            inside = ', '.join(map(shown, key))
            body.append(f'println([{inside}] in {name}, "|", '
                        f'{name}[{inside}])')
            none = b'' if arrays[name][1] == 's' else 0
            want.append((body[-1], b'%d|%b\n' % (
                key in model.d, printed(model.d.get(key, none)))))
        names = {'a': 'i', 'b': 'jk', 'c': 'lmn', 'w': 'o', 't': 'p'}
        for _ in range(24):
            name = r.choice(list(arrays))
            text, line = walk(r, name, arrays[name][0])
            for old, new in zip('xyz', names[name]):
                text = rename(text, old, new)
            text = rename(text, 'v', 'v' + arrays[name][1])
            want.append((text, line))
            body.append(text)
        # what no rule types otherwise
        declare = 'global a, b, c, w%[4], t\nprobe never { a[0] = 0 ' \
            'b[0, ""] = 0 c["", 0, ""] = "" w[""] = 0 t[""] = "" }'
        yield Case('arrays/walk', ';\n'.join(body), want, '', declare)


def rename(text, old, new):
    """A variable, outside strings."""
    parts = text.split('"')
    for i in range(0, len(parts), 2):
        parts[i] = ''.join(
            new if c == old and not (before.isalnum() or after.isalnum())
            else c for before, c, after in zip(
                ' ' + parts[i], parts[i], parts[i][1:] + ' '))
    return '"'.join(parts)

# SPDX-License-Identifier: MIT
"""Arithmetic: every operator on extreme and random 64-bit numbers, as
variables that only the run knows, and as literals, which are folded."""

import operator

from machines import Case

MIN, MAX = -2**63, 2**63 - 1
EDGES = [0, 1, -1, 2, -2, 3, 7, -8, 10, 31, 32, 63, 64, 65, 255, 256, 4095,
         2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32 - 1, 2**32, 2**32 + 1,
         2**62, MAX, MAX - 1, MIN, MIN + 1, 0x5555555555555555]


def wrap(v):
    return (v - MIN) % 2**64 + MIN


def quotient(x, y):
    if not y:
        return None
    q = abs(x) // abs(y)
    return wrap(q if (x < 0) == (y < 0) else -q)


def rest(x, y):
    if not y:
        return None
    r = abs(x) % abs(y)
    return -r if x < 0 else r


BINARY = {
    '+': operator.add, '-': operator.sub, '*': operator.mul,
    '&': operator.and_, '|': operator.or_, '^': operator.xor,
    '<<': lambda x, y: x << (y & 63), '>>': lambda x, y: x >> (y & 63),
    '>>>': lambda x, y: (x % 2**64) >> (y & 63),
    '<': operator.lt, '>': operator.gt, '<=': operator.le,
    '>=': operator.ge, '==': operator.eq, '!=': operator.ne,
    '&&': lambda x, y: x != 0 and y != 0,
    '||': lambda x, y: x != 0 or y != 0,
}
DIVIDE = {'/': quotient, '%': rest}
ASSIGN = ['+', '-', '*', '&', '|', '^', '<<', '>>', '/', '%']
UNARY = {'-': lambda x: -x, '~': lambda x: ~x, '!': lambda x: x == 0,
         '+': lambda x: x, '++': lambda x: x + 1, '--': lambda x: x - 1}


def number(r):
    if r.random() < .4:
        return r.choice(EDGES)
    v = r.getrandbits(r.randrange(1, 65))
    return wrap(v if r.random() < .6 else -v)


def line(*values):
    return (' '.join(str(wrap(int(v))) for v in values) + '\n').encode()


def groups():
    """Lists of operators that one script evaluates together."""
    names = list(BINARY)
    return [names[:6], names[6:9], names[9:15], names[15:]]


def show(exprs):
    return (f'printf("{" ".join(["%d"] * len(exprs))}\\n", '
            f'{", ".join(exprs)})\n')


def variables(r, count):
    """Operands out of arrays."""
    pairs = [(number(r), number(r)) for _ in range(count)]
    setup = '\n'.join(f'a[{i}] = {x}; b[{i}] = {y}'
                      for i, (x, y) in enumerate(pairs))
    head = f'for (i = 0; i < {count}; i++) {{ x = a[i]; y = b[i]\n'

    def case(name, body, model):
        return Case(f'numbers/{name}', head + body + '}',
                    [(f'{x} {name} {y}', model(x, y)) for x, y in pairs],
                    setup, 'global a, b, e')

    for ops in groups():
        yield case(' '.join(ops), show([f'x {op} y' for op in ops]),
                   lambda x, y, ops=ops: line(
                       *(BINARY[op](x, y) for op in ops)))
        # as conditions, which compile to branches
        yield case('if ' + ' '.join(ops), ''.join(
            f'if (x {op} y) print(1) else print(0)\n' for op in ops)
            + 'println()', lambda x, y, ops=ops: ''.join(
                '01'[wrap(int(BINARY[op](x, y))) != 0]
                for op in ops).encode() + b'\n')
    for op in DIVIDE:
        yield case(op, f'try {{ println(x {op} y) }} catch (m) '
                   '{ println(m) }', lambda x, y, op=op: b'division by 0\n'
                   if not y else line(DIVIDE[op](x, y)))
    for op in ASSIGN:
        fn = BINARY.get(op) or DIVIDE[op]
        yield case(op + '=', f'''z = x; e[i] = x
            try {{ w = z {op}= y; e[i] {op}= y; {show(["z", "w", "e[i]"])} }}
            catch (m) {{ {show(["z", "e[i]"])} }}''',
                   lambda x, y, fn=fn: line(x, x) if fn(x, y) is None
                   else line(*[fn(x, y)] * 3))
    yield case('unary', 'z = x; w = y; e[i] = x\n' + show(
        ['-x', '~x', '!x', '+x', '++z', 'w++', 'e[i]++', '--e[i]', 'z', 'w',
         'e[i]--', 'e[i]', '!!y', '- - y', '-~y']),
               lambda x, y: line(-x, ~x, x == 0, x, x + 1, y, x, x, x + 1,
                                 y + 1, x, x - 1, y != 0, y, y + 1))
    yield case('?:', show(['x ? y : ~y', 'x < y ? x : y', 'x > 0 && y > 0',
                           'x in a', '[y] in b', 'x == 5 || y']),
               lambda x, y: line(y if x else ~y, min(x, y), x > 0 and y > 0,
                                 0 <= x < count, 0 <= y < count,
                                 x == 5 or y != 0))


def literals(r, count):
    """Operands that the compiler knows: one statement each."""
    want, body = [], []
    names = list(BINARY) + list(DIVIDE)
    for _ in range(count):
        op, x, y = r.choice(names), number(r), number(r)
        fn = BINARY.get(op) or DIVIDE[op]
        if fn(x, y) is None:
            continue
        body.append(f'println(({x}) {op} ({y}))')
        want.append((body[-1], line(fn(x, y))))
        op = r.choice(list(UNARY)[:4])
        body.append(f'println({op} ({x}))')
        want.append((body[-1], line(UNARY[op](x))))
    return Case('numbers/literals', '\n'.join(body), want)


def mixed(r, count):
    """Random trees of literals and variables, against their value."""
    values = {f'v{i}': number(r) for i in range(4)}

    def tree(depth):
        if depth == 0 or r.random() < .2:
            name = r.choice(list(values))
            if r.random() < .5:
                return name, values[name]
            v = number(r)
            return f'({v})', v
        if r.random() < .2:
            op = r.choice(list(UNARY)[:4])
            text, v = tree(depth - 1)
            return f'({op} {text})', wrap(int(UNARY[op](v)))
        if r.random() < .1:
            (c, cv), (t, tv), (f, fv) = (tree(depth - 1) for _ in range(3))
            return f'({c} ? {t} : {f})', tv if cv else fv
        op = r.choice(list(BINARY) + list(DIVIDE))
        (lt, lv), (rt, rv) = tree(depth - 1), tree(depth - 1)
        if op in DIVIDE and not rv:
            op = '+'
        fn = BINARY.get(op) or DIVIDE[op]
        return f'({lt} {op} {rt})', wrap(int(fn(lv, rv)))

    body, want = [], []
    for name, v in values.items():
        body.append(f'{name} = g[{name[1]}]')
    for _ in range(count):
        text, v = tree(4)
        body.append(f'println({text})')
        want.append((text, line(v)))
    return Case('numbers/trees', '\n'.join(body), want, '\n'.join(
        f'g[{n[1]}] = {v}' for n, v in values.items()), 'global g')


def cases(r):
    yield from variables(r, 60)
    yield literals(r, 60)
    yield mixed(r, 25)

# SPDX-License-Identifier: MIT
"""String operators and functions against models of bytes."""

import functools

from machines import Case, literal

MOST = 511  # MAXSTRINGLEN - 1
PIECES = [b'', b'a', b'ab', b'abc', b'aab', b'b', b'aa', b'12', b'-7', b'0x',
          b'1f', b'017', b'.', b',', b' ', b'\n', b'\t', b'"', b'\\', b'\x01',
          b'\x7f', b'\xff', b'\xc3\xa9', b'\xe2\x82\xac',
          b'\xf0\x9f\x98\x80', b'\xc3', b'\x80', b'a long piece of text ']


def text(r, most=8):
    s = b''.join(r.choice(PIECES) for _ in range(r.randrange(most)))
    if r.random() < .1:
        s = bytes(r.randrange(1, 256) for _ in range(r.randrange(40)))
    if r.random() < .03:
        s = s * 30
    return s[:MOST]


def digits(r):
    alphabet = r.choice([b'01', b'01234567', b'0123456789',
                         b'0123456789abcdefABCDEF', b'-+0x 9fzZ8'])
    s = bytes(r.choice(alphabet) for _ in range(r.randrange(24)))
    return r.choice([b'', b'-', b'0x', b'0X', b'0', b'-0x', b'+', b' ', b'--',
                     b'-0']) + s


def wrap(v):
    return (v + 2**63) % 2**64 - 2**63


# --- models ----------------------------------------------------------------

def substr(s, start, length):
    if start < 0 or start >= len(s) or length <= 0:
        return b''
    return s[start:start + length]


def strtol(s, base):
    """The kernel's: no blanks, no +, wraps, stops at what is no digit."""
    minus = s[:1] == b'-'
    s = s[minus:]
    hexed = s[:2].lower() == b'0x' and s[2:3] and s[2:3] in \
        b'0123456789abcdefABCDEF'
    if base == 0:
        base = 16 if hexed else 8 if s[:1] == b'0' else 10
    if base == 16 and s[:2].lower() == b'0x':
        s = s[2:]
    v = 0
    for b in s.lower():
        d = b'0123456789abcdef'.find(bytes([b]))
        if d < 0 or d >= base:
            break
        v = v * base + d
    return wrap(-v if minus else v)


def str_replace(s, old, new):
    return (s.replace(old, new) if old else s)[:MOST]


SHORT = {7: b'\\a', 8: b'\\b', 9: b'\\t', 10: b'\\n', 11: b'\\v',
         12: b'\\f', 13: b'\\r', 34: b'\\"', 92: b'\\\\'}


def escaped(s):
    """One piece of text for each character of s."""
    out, i = [], 0
    while i < len(s):
        b = s[i]
        if b in SHORT:
            out.append(SHORT[b])
        elif 32 <= b < 127:
            out.append(bytes([b]))
        else:
            for n in (2, 3, 4) if b >= 128 else ():
                try:
                    c = ord(s[i:i + n].decode('utf-8'))
                except (UnicodeDecodeError, TypeError):
                    continue
                out.append(b'\\u%04X' % c if c < 0x10000 else b'\\U%08X' % c)
                i += n - 1
                break
            else:
                out.append(b'\\%03o' % b)
        i += 1
    return out


def text_str(s, most=MOST, quoted=False):
    """When not all of it fits, and it is quoted, room is left for the quote
    and three dots."""
    pieces = escaped(s)
    whole = b''.join(pieces)
    if not quoted:
        return fitting(pieces, most)
    if len(whole) + 2 <= most:
        return b'"' + whole + b'"'
    return b'"' + fitting(pieces, most - 5) + b'"...'


def fitting(pieces, room):
    out = b''
    for piece in pieces:
        if len(out) + len(piece) > room:
            break
        out += piece
    return out


def tokens(s, delimiters):
    out, token = [], b''
    for b in s:
        if b in delimiters:
            out.append(token)
            token = b''
        else:
            token += bytes([b])
    return [t for t in out + [token] if t]


def compare(x, y):
    return [x == y, x != y, x < y, x <= y, x > y, x >= y]


# --- cases -----------------------------------------------------------------

def numbers(*values):
    return (' '.join(str(int(v)) for v in values) + '\n').encode()


def array(name, values):
    return '\n'.join(f'{name}[{i}] = {v if isinstance(v, int) else literal(v)}'
                     for i, v in enumerate(values))


def over(name, body, model, *columns):
    """The statements once for each row; x, y, z are its columns."""
    arrays = 'abc'[:len(columns)]
    setup = '\n'.join(array(n, c) for n, c in zip(arrays, columns))
    head = f'for (i = 0; i < {len(columns[0])}; i++) {{ ' + ''.join(
        f'{v} = {n}[i]; ' for v, n in zip('xyz', arrays))
    want = [(f'{name} {row}', model(*row)) for row in zip(*columns)] \
        if model else []
    return Case('strings/' + name, head + body + '}', want, setup,
                'global ' + ', '.join(arrays))


def related(r, count):
    """Pairs of which one often is part of the other."""
    pairs = []
    for _ in range(count):
        x = text(r)
        y = text(r, 3)
        if x and r.random() < .5:
            i = r.randrange(len(x))
            y = x[i:i + r.randrange(1, 5)]
        elif r.random() < .3:
            y = x + text(r, 2)
        pairs.append((x, y[:MOST]))
    return zip(*pairs)


def cases(r):
    n = 60
    one = [text(r) for _ in range(n)]
    x, y = map(list, related(r, n))
    starts = [r.choice([-1, 0, 1, 2, 5, 511, 2**63 - 1, -2**63 + 1,
                        r.randrange(30)]) for _ in range(n)]
    yield over('substr', 'println(substr(x, y, z), "|")',
               lambda s, i, k: substr(s, i, k) + b'|\n', one, starts,
               [r.choice(starts) for _ in range(n)])
    yield over('strlen', 'println(strlen(x), " ", isdigit(x) != 0)',
               lambda s: numbers(len(s), s[:1].isdigit()), one)
    yield over('stringat', 'try { println(stringat(x, y)) } catch (m) '
               '{ println(m) }',
               lambda s, i: numbers(s[i] - 256 * (s[i] > 127))
               if 0 <= i < len(s) else b'Position out of bounds\n', one,
               starts)
    yield over('isinstr', 'printf("%d %d\\n", isinstr(x, y), strpos(x, y))',
               lambda s, t: numbers(t in s, s.find(t)),
               x, y)
    yield over('compare', 'printf("%d %d %d %d %d %d\\n", x == y, x != y, '
               'x < y, x <= y, x > y, x >= y)',
               lambda s, t: numbers(*compare(s, t)), x, y)
    yield over('concat', 'z = x . y; w = y; w .= x . "-" . x\n'
               'println(z, "|", strlen(z)) println(w, "|", strlen(w))',
               lambda s, t: b'%b|%d\n%b|%d\n' % (
                   (s + t)[:MOST], len((s + t)[:MOST]),
                   (t + s + b'-' + s)[:MOST],
                   min(MOST, len(t + s + s) + 1)), x, y)
    texts = [digits(r) for _ in range(n)]
    yield over('strtol', 'printf("%d %d %d %d\\n", strtol(x, 0), '
               'strtol(x, 8), strtol(x, 10), strtol(x, 16))',
               lambda s: numbers(*(strtol(s, b) for b in (0, 8, 10, 16))),
               texts)
    yield over('str_replace', 'println(str_replace(x, y, z), "|")',
               lambda s, o, w: str_replace(s, o, w) + b'|\n', x, y,
               [text(r, 3) for _ in range(n)])
    yield over('text_str', 'println(text_str(x), "|")',
               lambda s: text_str(s) + b'|\n', one)
    yield over('string_quoted', 'println(string_quoted(x), "|")',
               lambda s: text_str(s, quoted=True) + b'|\n', one)
    sizes = [r.choice([0, -1, 511, 5, 6, 7, 8, 9, 12, 20, 40])
             for _ in range(n)]
    for quoted in (0, 1):
        yield over(f'text_strn {quoted}', f'println(text_strn(x, y, {quoted}'
                   '), "|")', functools.partial(
                       lambda quoted, s, k: text_str(
                           s, k if k > 0 else MOST, quoted) + b'|\n',
                       bool(quoted)), one, sizes)
    marks = [r.choice([b',', b' ', b'ab', b'.,', b'\n', b'', b'x'])
             for _ in range(n)]
    yield over('tokenize', 'for (t = tokenize(x, y); t != ""; t = '
               'tokenize("", y)) print("<", t, ">")\nprintln()',
               lambda s, d: b''.join(b'<%b>' % t for t in tokens(s, d))
               + b'\n', one, marks)
    yield keys(r, n)
    yield folded(r, n)


def keys(r, n):
    """Strings as keys: each is found again, and no other."""
    known = {s: i for i, s in enumerate(text(r) for _ in range(n))}
    rows = [r.choice(list(known)) for _ in range(n // 2)]
    rows += [text(r) for _ in range(n)]
    case = over('keys', 'f[x] <<< i\nprintf("%d %d %d %d\\n", x in m, m[x], '
                '@count(f[x]), @max(f[x]))', None, rows)
    case.want = [(s, numbers(s in known, known.get(s, 0),
                             rows[:i + 1].count(s), i))
                 for i, s in enumerate(rows)]
    case.declare += ', m, f'
    case.setup += ''.join(f'\nm[{literal(s)}] = {i}'
                          for s, i in known.items())
    return case


def folded(r, n):
    """Literals, which the compiler evaluates."""
    body, want = [], []
    x, y = map(list, related(r, n))
    for s, t in zip(x, y):
        i, k = r.randrange(-1, 20), r.randrange(-1, 20)
        ls, lt = literal(s), literal(t)
        for expr, value in [
                (f'{ls} . {lt}', (s + t)[:MOST]),
                (f'strlen({ls})', b'%d' % len(s)),
                (f'{ls} < {lt}', b'%d' % (s < t)),
                (f'{ls} == {lt}', b'%d' % (s == t)),
                (f'substr({ls}, {i}, {k})', substr(s, i, k)),
                (f'isinstr({ls}, {lt})', b'%d' % (t in s))]:
            if r.random() < .3:
                body.append(f'println({expr})')
                want.append((expr, value + b'\n'))
    return Case('strings/literals', '\n'.join(body), want)

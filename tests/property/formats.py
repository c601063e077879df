# SPDX-License-Identifier: MIT
"""printf() against libc, where libc says what the language says: one flag,
width, precision, each a number or *."""

import ctypes

from machines import Case, literal

LIBC = ctypes.CDLL(None)
EDGES = [0, 1, -1, 7, 8, 255, -256, 4096, 2**31, -2**31, 2**32 - 1, 2**62,
         2**63 - 1, -2**63]
WORDS = [b'', b'a', b'ab', b'hello', b'a longer piece of text, with %d',
         b'tab\there', b'\xff\x01', b'x' * 60]


def by_libc(directive, args):
    """What snprintf() makes of it, as bytes."""
    buffer = ctypes.create_string_buffer(4096)
    n = LIBC.snprintf(buffer, ctypes.c_size_t(4096), directive, *args)
    return buffer.raw[:n]


class Directive:
    """One random directive, its arguments, and what it prints."""

    def __init__(self, r):
        self.conv = r.choice('ddiuoxXpscc')
        self.flag = r.choice(['', '', '-', '0', '+', ' ', '#'])
        self.width = r.choice([None, None, 0, 1, 5, 20, 40])
        self.precision = r.choice([None, None, None, 0, 1, 3, 20, 30])
        self.args = []
        if self.conv == 's':
            self.flag = self.flag if self.flag == '-' else ''
            self.value = r.choice(WORDS)
        elif self.conv == 'c':
            self.flag = self.flag if self.flag == '-' else ''
            self.precision = None
            self.value = r.choice([65, 10, 0, 255, 256 + 66, -1])
        else:
            self.value = r.choice(EDGES) if r.random() < .5 else \
                r.getrandbits(r.randrange(1, 64)) - 2**20
            # where the language differs from C, another is taken
            if self.flag == '0' and self.precision is not None:
                self.flag = '-'
            if self.conv in 'ox' 'X' and self.flag == '#' and (
                    self.value == 0 or self.precision is not None):
                self.flag = ''
            if self.conv == 'p':
                self.flag = '-' if self.flag == '-' else ''
                self.precision = None
            if self.conv in 'uoxX' and self.flag in '+ ':
                self.flag = ''
            if self.conv in 'di' and self.flag == '#':
                self.flag = '+'
        self.star = [r.random() < .3 for _ in range(2)]
        self.long = 'l' if self.conv in 'dux' and r.random() < .3 else ''

    def text(self):
        def part(v, star):
            return '' if v is None else '*' if star else str(v)

        out = '%' + self.flag + part(
            self.width or None, self.star[0])
        if self.precision is not None:
            out += '.' + part(self.precision, self.star[1])
        return out + self.long + self.conv

    def arguments(self):
        out = []
        if self.width and self.star[0]:
            out.append(self.width)
        if self.precision is not None and self.star[1]:
            out.append(self.precision)
        return out + [self.value]

    def expected(self):
        conv = 'll' + self.conv if self.conv in 'diuoxX' else self.conv
        out = '%' + self.flag + (str(self.width) if self.width else '')
        precision = self.precision
        if precision == 0 and self.value == 0:
            precision = 1  # the language prints a digit
        if precision is not None:
            out += f'.{precision}'
        if self.conv == 's':
            value = ctypes.c_char_p(self.value)
        elif self.conv == 'c':
            value = ctypes.c_int(self.value & 255)
        else:
            value = ctypes.c_longlong(self.value)
        if self.conv == 'p':  # libc has its own idea of a null pointer
            digits = b'0x%x' % (self.value % 2**64)
            width = self.width or 0
            return digits.ljust(width) if self.flag else digits.rjust(width)
        return by_libc((out + conv).encode(), [value])


def case(r, count, folded):
    """Statements of one to three directives each; values are literals, or
    (not folded) come out of arrays."""
    body, setup, want = [], [], []
    for i in range(count):
        fmt, args, line = '', [], b''
        for k in range(r.randrange(1, 4)):
            d = Directive(r)
            fmt += '|' + d.text()
            line += b'|' + d.expected()
            for j, v in enumerate(d.arguments()):
                at = f'[{100 * i + 10 * k + j}]'
                name = 't' if isinstance(v, bytes) else 'n'
                text = literal(v) if isinstance(v, bytes) else f'({v})'
                if not folded:
                    setup.append(f'{name}{at} = {text}')
                    text = name + at
                args.append(text)
        if r.random() < .5:
            body.append(f'printf("{fmt}%%\\n", {", ".join(args)})')
            line += b'%\n'
        else:
            body.append(f'println(sprintf("{fmt}%%", {", ".join(args)}))')
            # a NUL ends a string
            line = (line + b'%').split(b'\0')[0] + b'\n'
        want.append((body[-1] + ' ' + ' '.join(setup[-9:]), line))
    name = 'literals' if folded else 'variables'
    return Case('formats/' + name, '\n'.join(body), want, '\n'.join(setup),
                'global n, t')


def cases(r):
    yield case(r, 60, True)
    # few at a time: a kernel handler is limited
    for _ in range(6):
        yield case(r, 12, False)

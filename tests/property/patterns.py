# SPDX-License-Identifier: MIT
"""Regular expressions against Python's: whether one matches, the leftmost
and longest match, and the groups of it, which are those of the first way to
match that much (the order in which Python tries)."""

import re

from machines import Case, literal

CLASSES = [('[ab]', '[ab]'), ('[^a]', '[^a]'), ('[a-c]', '[a-c]'),
           ('[^b-z0-9]', '[^b-z0-9]'), ('[[:digit:]]', '[0-9]'),
           ('[[:alpha:]_]', '[A-Za-z_]'), ('[^[:space:]]', r'[^ \t-\r]'),
           ('[[:upper:][:punct:]]', r'[A-Z!-/:-@\[-`{-~]'),
           ('[[:xdigit:]-]', '[0-9A-Fa-f-]'), ('[]a]', r'[\]a]'),
           ('[[:alnum:]]', '[A-Za-z0-9]'), ('.', '.')]
LETTERS = 'aabbc0 _-'
SPECIAL = '.*+?()[]{}|^$\\'


class Pattern:
    """A random pattern: ours as bytes, Python's as text, groups counted."""

    def __init__(self, r):
        self.r = r
        self.groups = 0
        self.ours, self.theirs, self.empty = self.alternatives(3)
        if r.random() < .15:
            self.ours, self.theirs = '^' + self.ours, r'\A(?:' + self.theirs \
                + ')'
            if '|' in self.ours:  # ^ belongs to the first alternative only
                self.ours = '^(?:' + self.ours[1:] + ')'
        if r.random() < .15:
            self.ours = f'(?:{self.ours})$'
            self.theirs = f'(?:{self.theirs})' + r'\Z'

    def alternatives(self, depth):
        parts = [self.sequence(depth)
                 for _ in range(self.r.choice([1, 1, 1, 2, 3]))]
        return ('|'.join(p[0] for p in parts), '|'.join(p[1] for p in parts),
                any(p[2] for p in parts))

    def sequence(self, depth):
        parts = [self.piece(depth)
                 for _ in range(self.r.choice([1, 1, 2, 2, 3]))]
        return (''.join(p[0] for p in parts), ''.join(p[1] for p in parts),
                all(p[2] for p in parts))

    def piece(self, depth):
        ours, theirs, empty = self.atom(depth)
        if self.r.random() < .6 or empty:
            # what repeats takes at least a byte: what an empty turn leaves
            # in a group is where engines differ
            return ours, theirs, empty
        how = self.r.choice(['*', '+', '?', '{2}', '{1,}', '{0,2}', '{2,3}'])
        return ours + how, theirs + how, how[0] in '*?' or how[:2] == '{0'

    def atom(self, depth):
        x = self.r.random()
        if depth > 0 and x < .35:
            if self.r.random() < .3:
                ours, theirs, empty = self.alternatives(depth - 1)
                return f'(?:{ours})', f'(?:{theirs})', empty
            self.groups += 1
            ours, theirs, empty = self.alternatives(depth - 1)
            return f'({ours})', f'({theirs})', empty
        if x < .55:
            return self.r.choice(CLASSES) + (False,)
        if x < .6:
            c = self.r.choice(SPECIAL)
            return '\\' + c, '\\' + c, False
        c = self.r.choice(LETTERS)
        return c, re.escape(c), False


def longest(theirs, s):
    """The match object of the leftmost, longest match, or None."""
    for start in range(len(s) + 1):
        for end in range(len(s), start - 1, -1):
            rest = f'(?=.{{{len(s) - end}}}' + r'\Z)'
            m = re.compile(f'(?:{theirs}){rest}', re.S).match(s, start)
            if m:
                return m
    return None


def subject(r):
    s = ''.join(r.choice(LETTERS + 'abc0A.|\n') for _ in range(r.randrange(9)))
    return s * r.choice([1, 1, 1, 3])


def cases(r):
    """What matches, in the kernel; what it matched, on the host."""
    for part in range(4):
        body, want, texts = [], [], [subject(r) for _ in range(12)]
        setup = '\n'.join(f't[{i}] = {literal(s.encode())}'
                          for i, s in enumerate(texts))
        for _ in range(4):
            p = Pattern(r)
            compiled = re.compile(p.theirs, re.S)
            quoted = literal(p.ours.encode())
            body.append(f'for (i = 0; i < 12; i++) {{ s = t[i] '
                        f'println(s =~ {quoted}, s !~ {quoted}) }}')
            want += [(f'{s!r} =~ {quoted}',
                      b'10\n' if compiled.search(s) else b'01\n')
                     for s in texts]
        yield Case('patterns/match', '\n'.join(body), want, setup, 'global t')
    for part in range(6):
        body, want = [], []
        for _ in range(8):
            p, s = Pattern(r), subject(r)
            if p.groups > 12:  # print takes 32 arguments
                continue
            quoted = literal(p.ours.encode())
            m = longest(p.theirs, s)
            show = ', "|", '.join(f'matched({i})'
                                  for i in range(p.groups + 1))
            body.append(f's = t[{len(body)}]\nif (s =~ {quoted}) println('
                        f'ngroups(), "|", {show}) else println("no")')
            out = 'no' if not m else '|'.join(
                [str(p.groups + 1)] + [m.group(i) or ''
                                       for i in range(p.groups + 1)])
            want.append((f'{s!r} =~ {quoted}', out.encode() + b'\n'))
            body[-1] = body[-1].replace(
                's = t', f't[{len(body) - 1}] = {literal(s.encode())}\ns = t')
        yield Case('patterns/groups', '\n'.join(body), want, '', 'global t')

# SPDX-License-Identifier: MIT
"""Runs the same statements as host code, as kernel code in the VM, and in the
kernel, and compares line by line with what a model says they print."""

import os
import re
import subprocess
import tempfile

POINT = 'kernel.trace("sys_enter")'
ONCE = 'if (pid() != target() || __fired) next; __fired = 1; '
OPTIONS = ['-w', '-DMAXACTION=1000000', '--no-global-var-display']


def literal(s):
    """A string literal of the language for these bytes (no NUL)."""
    out = ''
    for b in s:
        c = chr(b)
        if c in '"\\':
            out += '\\' + c
        elif 32 <= b < 127:
            out += c
        else:
            out += f'\\{b:03o}'
    return f'"{out}"'


class Case:
    """Statements (in body, and in setup, which runs before) and the lines
    that they must print, as bytes."""

    def __init__(self, name, body, want, setup='', declare=''):
        self.name, self.body, self.setup = name, body, setup
        self.declare, self.want = declare, want
        self.host_only = False
        self.fed = None  # probes and events that print the same
        self.loose = ()  # numbers of lines whose words come in any order

    def script(self, host):
        if host is None:
            return f'{self.declare}\n{self.fed[0]}'
        point = 'begin(1)' if host else POINT
        once = '' if host else ONCE
        return (f'global __fired = 0\n{self.declare}\n'
                f'probe begin {{ __setup = 1; {self.setup}\n'
                f'if (__setup < 0) exit() }}\n'
                f'probe {point} {{ {once}\n{self.body}\nexit() }}\n')


# What the process calls while the handler goes on on the host.
SKIPS = re.compile(rb'WARNING: Number of errors: 0, skipped probes: \d+\n')


def run(case, build, kernel, timeout=120):
    """What is wrong, as lines of text."""
    ways = {'host': (True, ['--runtime=vm']),
            'unoptimised': (True, ['-u', '--runtime=vm'])}
    if not case.host_only:
        ways['kernel code in the VM'] = (False, ['--events=events', '-x', '7'])
        if kernel:
            ways['kernel'] = (False, ['-c', '/bin/true',
                                      '-DMAXSKIPPED=1000000000'])
    if case.fed:
        ways['fed by events'] = (None, ['--events=events'])
    wrong = []
    with tempfile.TemporaryDirectory(prefix='tally-property.') as tmp:
        for way, (host, args) in ways.items():
            with open(f'{tmp}/events', 'w', encoding='ascii') as f:
                f.write('\n'.join(
                    [f'1ms {POINT} pid=7 tid=7 execname="true"']
                    if host is not None else case.fed[1]) + '\n')
            with open(f'{tmp}/x.stp', 'wb') as f:
                f.write(case.script(host).encode('latin-1'))
            try:
                p = subprocess.run(
                    [build + '/tally'] + OPTIONS + args + ['x.stp'], cwd=tmp,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, timeout=timeout, check=False,
                    env=dict(os.environ, LC_ALL='C', TZ='UTC'))
            except subprocess.TimeoutExpired:
                wrong.append(f'{way}: timed out')
                continue
            wrong += [f'{way}: {line}' for line in compare(case, p, host)]
    return wrong


def compare(case, p, host):
    if p.returncode or SKIPS.sub(b'', p.stderr):
        text = p.stderr.decode('latin-1').replace('\n', ' / ')
        return [f'status {p.returncode}: {text[:900]}']
    got = p.stdout
    want = b''.join(line for _, line in case.want)
    if got == want:
        return []
    at = 0
    for i, (what, line) in enumerate(case.want):
        part = got[at:at + len(line)]
        if part != line and (host or i not in case.loose or sorted(
                part.split(b' ')) != sorted(line.split(b' '))):
            return [f'{what}: printed {got[at:at + len(line) + 30]!r}, '
                    f'not {line!r}']
        at += len(line)
    return [f'more than expected: {got[at:at + 100]!r}'] if got[at:] else []

# SPDX-License-Identifier: MIT
"""How long scripts take to compile: bench/run compile. Scripts of several
shapes, 1,000 to 30,000 lines; the processor time that tally needs up to the
instructions, the least of several runs."""

import os
import resource
import subprocess
import tempfile


def handler(n):
    """One handler of n statements."""
    yield 'global a, t, s\nprobe begin {'
    kinds = ['\tt += %d', '\ta[%d] = t', '\ts <<< %d', '\tif (t > %d) t--',
             '\tprintf("%%d\\n", t + %d)', '\tw = "word %d"']
    yield '\tw = ""'
    for i in range(n):
        yield kinds[i % 6] % i
    yield '\tprintln(w)\n}\nprobe end { print(@count(s)) }'


def functions(n):
    """Functions of ten lines."""
    for i in range(n // 10):
        yield f'function f{i}(x) {{'
        for j in range(7):
            yield f'\tx += x * {j} + {i}'
        yield '\treturn x\n}'
    yield 'probe begin {'
    for i in range(n // 10):
        yield f'\tprintln(f{i}({i}))'
    yield '}'


def probes(n):
    """Kernel handlers of ten lines."""
    yield 'global c, s, last'
    for i in range(n // 10):
        yield 'probe kernel.trace("sys_enter") {\n\tif (pid() == %d) {' % i
        for j in range(3):
            yield f'\t\tc[tid(), {j}] += {i}'
        yield f'\t\ts <<< {i}\n\t\tlast = pid()\n\t}}\n\tlast++\n}}'
    yield 'probe end { print(@count(s), last) }'


def many_globals(n):
    for i in range(n):
        yield f'global g{i}'
    yield 'probe begin {'
    for i in range(n):
        yield f'\tg{i} = {i}'
    yield '}\nprobe end {'
    for i in range(n):
        yield f'\tprintln(g{i})'
    yield '}'


def deep(n):
    """Functions that call each other n deep, inlined into a kernel handler."""
    yield 'function f0(x) { return x + 1 }'
    for i in range(1, n):
        yield f'function f{i}(x) {{ return f{i - 1}(x) + 1 }}'
    yield f'probe kernel.trace("sys_enter") {{ println(f{n - 1}(pid())) }}'


def keys(n):
    """Arrays of nine keys."""
    yield 'global a\nprobe begin {'
    for i in range(n):
        nine = ', '.join([str(i), f'"k{i}"'] * 4 + [str(i)])
        yield f'\ta[{nine}] = {i}'
    yield ('}\nprobe end { foreach ([b, c, d, e, f, g, h, i, j] in a) '
           'println(b, c) }')


SHAPES = [('one handler', handler, (1000, 3000, 10000, 30000)),
          ('functions', functions, (1000, 3000, 10000, 30000)),
          ('kernel probes', probes, (1000, 3000, 10000, 30000)),
          ('globals', many_globals, (1000,)),
          ('calls deep', deep, (100,)), ('nine keys', keys, (100,))]


def cpu_ms(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime
                  - before.ru_utime - before.ru_stime)


def run(tally, rounds, say):
    say('\ncompilation, ms of processor time, least of '
        f'{rounds}; lines of script')
    with tempfile.TemporaryDirectory(prefix='tally-bench.') as tmp:
        for name, shape, sizes in SHAPES:
            for n in sizes:
                path = os.path.join(tmp, 'x.stp')
                with open(path, 'w', encoding='ascii') as f:
                    f.write('\n'.join(shape(n)) + '\n')
                with open(path, encoding='ascii') as f:
                    lines = sum(1 for _ in f)
                ms = min(cpu_ms([tally, '-w', '-p4', '--dump=plan',
                                 '--runtime=vm', path])
                         for _ in range(rounds))
                say(f'  {name:14} {n:6} {lines:6} lines {ms:8.1f} ms'
                    f'  {1e3 * ms / lines:6.1f} us/line')

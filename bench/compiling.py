# SPDX-License-Identifier: MIT
"""How long scripts take to compile: bench/run compile. Scripts of many shapes;
the processor time that tally needs up to the instructions, the least of several
runs.

    python3 bench/compiling.py TALLY [SHAPE... | K/N]

says whether four times as much of each shape (of those named; of the K-th of N
parts of all) takes about four times as long, and fails otherwise:
tests/cli/linear*.cmd."""

import os
import resource
import subprocess
import sys
import tempfile

SHAPES = {}


def shape(f):
    SHAPES[f.__name__] = f
    return f


# --- what the language's issue asks for ------------------------------------


@shape
def one_handler(n):
    """One handler of n statements."""
    yield 'global a, t, s\nprobe begin {'
    kinds = ['\tt += %d', '\ta[%d] = t', '\ts <<< %d', '\tif (t > %d) t--',
             '\tprintf("%%d\\n", t + %d)', '\tw = "word %d"']
    yield '\tw = ""'
    for i in range(n):
        yield kinds[i % 6] % i
    yield '\tprintln(w)\n}\nprobe end { print(@count(s)) }'


@shape
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


@shape
def kernel_probes(n):
    """Kernel handlers of ten lines."""
    yield 'global c, s, last'
    for i in range(n // 10):
        yield 'probe kernel.trace("sys_enter") {\n\tif (pid() == %d) {' % i
        for j in range(3):
            yield f'\t\tc[tid(), {j}] += {i}'
        yield f'\t\ts <<< {i}\n\t\tlast = pid()\n\t}}\n\tlast++\n}}'
    yield 'probe end { print(@count(s), last) }'


@shape
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


@shape
def small_probes(n):
    """Kernel handlers of one line, all with one global."""
    yield 'global t'
    for i in range(n):
        yield f'probe kernel.trace("sys_enter") {{ t += {i} }}'
    yield 'probe end { println(t) }'


@shape
def nine_keys(n):
    """Arrays of nine keys."""
    yield 'global a\nprobe begin {'
    for i in range(n):
        nine = ', '.join([str(i), f'"k{i}"'] * 4 + [str(i)])
        yield f'\ta[{nine}] = {i}'
    yield ('}\nprobe end { foreach ([b, c, d, e, f, g, h, i, j] in a) '
           'println(b, c) }')


def calls_deep(n):
    """Functions that call each other n deep, inlined into a kernel handler."""
    yield 'function f0(x) { return x + 1 }'
    for i in range(1, n):
        yield f'function f{i}(x) {{ return f{i - 1}(x) + 1 }}'
    yield f'probe kernel.trace("sys_enter") {{ println(f{n - 1}(pid())) }}'


# --- one construct, many times ---------------------------------------------


@shape
def host_calls_deep(n):
    for i in range(n - 1):
        yield f'function f{i}(x) {{ return f{i + 1}(x) + 1 }}'
    yield f'function f{n - 1}(x) {{ return x }}'
    yield 'probe begin { println(f0(1)) }'


@shape
def types_backward(n):
    """What g0 is follows from the last line."""
    for i in range(n):
        yield f'global g{i}'
    yield 'probe begin {'
    for i in range(n - 1):
        yield f'g{i} = g{i + 1}'
    yield f'g{n - 1} = "x"\nprintln(g0) }}'


@shape
def types_of_parameters(n):
    yield 'probe begin { f0("x") }'
    for i in range(n - 1):
        yield f'function f{i}(x) {{ f{i + 1}(x); println(x) }}'
    yield f'function f{n - 1}(x) {{ println(x) }}'


@shape
def locals_of_kernel(n):
    """Far more than the stack has room for."""
    yield 'probe kernel.trace("sys_enter") {'
    for i in range(n):
        yield f'v{i} = gettimeofday_ns()'
    for i in range(n):
        yield f'println(v{i})'
    yield '}'


@shape
def probes_of_own_globals(n):
    for i in range(n):
        yield f'global s{i}'
    for i in range(n):
        yield (f'probe kernel.trace("sys_enter") {{ s{i} = s{i} + '
               f's{(i * 7 + 1) % n} }}')
    yield 'probe end {'
    for i in range(n):
        yield f'println(s{i})'
    yield '}'


@shape
def aliases(n):
    for i in range(n):
        yield f'probe al{i} = begin {{ v{i} = {i} }}'
    for i in range(n):
        yield f'probe al{i} {{ println(v{i}) }}'


@shape
def overloads(n):
    for i in range(n):
        yield f'function f(x) {{ if (x == {i}) next; return {i} }}'
    yield 'probe begin { println(f(1)) }'


@shape
def macros(n):
    for i in range(n):
        yield f'@define m{i} %( {i} %)'
    yield 'probe begin {'
    for i in range(n):
        yield f'println(@m{i})'
    yield '}'


@shape
def conditions(n):
    yield 'probe begin {'
    for i in range(n):
        yield f'%( kernel_v > "2.6" %? println({i}) %: println("x") %)'
    yield '}'


@shape
def strings(n):
    yield 'global t\nprobe begin {\n'
    for i in range(n):
        yield f't["key number {i}"] = "a value {i}"'
    yield '}\nprobe end { foreach (k in t) println(k, t[k]) }'


@shape
def one_expression(n):
    """1,000 operators are allowed to stand in each other."""
    for k in range(n // 500):
        yield f'global t{k}\nprobe begin {{ x = t{k}\nt{k} = x'
        for i in range(500):
            yield f' + x * {i}'
        yield '}'


@shape
def else_if(n):
    for k in range(n // 500):
        yield f'global t{k}\nprobe begin {{ x = t{k}'
        for i in range(500):
            yield f'if (x == {i}) t{k} = {i}; else'
        yield ' x = 7 }'


@shape
def timers(n):
    yield 'global t'
    for i in range(n):
        yield f'probe timer.s({i + 1}) {{ t += {i} }}'
    yield 'probe end { println(t) }'


@shape
def wrong_names(n):
    yield 'probe begin {'
    for i in range(n):
        yield f'println(undefined{i}())'
    yield '}'


@shape
def warnings(n):
    yield 'probe begin {'
    for i in range(n):
        yield f'x{i} = y{i}'
    yield 'println(x0, x1) }'


@shape
def printed_at_the_end(n):
    """Globals that nobody reads."""
    yield '\n'.join(f'global g{i}' for i in range(n))
    yield 'probe begin {\n' + '\n'.join(f'g{i} = {i}' for i in range(n)) + '}'


@shape
def parameters(n):
    yield 'function f(' + ', '.join(f'p{i}' for i in range(n))
    yield ') { return p0 }\nprobe begin { println(f('
    yield ', '.join(str(i) for i in range(n)) + ')) }'


SIZES = [(one_handler, (1000, 3000, 10000, 30000)),
         (functions, (1000, 3000, 10000, 30000)),
         (kernel_probes, (1000, 3000, 10000, 30000)),
         (many_globals, (1000, 10000)), (small_probes, (1000, 10000)),
         (calls_deep, (100,)), (nine_keys, (100,))]


def cpu_ms(tally, path, status=(0,)):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([tally, '-w', '-p4', '--dump=plan', '--runtime=vm',
                        path], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode not in status:
        sys.exit(f'status {p.returncode}: {p.stderr.decode()[:500]}')
    return 1e3 * (after.ru_utime + after.ru_stime
                  - before.ru_utime - before.ru_stime)


def write(path, make, n):
    text = '\n'.join(make(n)) + '\n'
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
    return text.count('\n')


def run(tally, rounds, say):
    say('\ncompilation, ms of processor time, least of '
        f'{rounds}; lines of script')
    with tempfile.TemporaryDirectory(prefix='tally-bench.') as tmp:
        path = os.path.join(tmp, 'x.stp')
        for make, sizes in SIZES:
            for n in sizes:
                lines = write(path, make, n)
                ms = min(cpu_ms(tally, path) for _ in range(rounds))
                name = make.__name__.replace('_', ' ')
                say(f'  {name:14} {n:6} {lines:6} lines {ms:8.1f} ms'
                    f'  {1e3 * ms / lines:6.1f} us/line')
        say('four times as much of one construct: how many times the time')
        for make in SHAPES.values():
            ms, growth = measure(tally, path, make)
            name = make.__name__.replace('_', ' ')
            say(f'  {name:24} {4 * START:6} {ms:8.1f} ms  {growth:6.1f}')


START = 1000
# Four times the work in less than twice four times the time: a quadratic pass
# takes sixteen times. Below 20 ms the rest of the process counts too much.
GROWTH_MAX, LEAST_MS = 8, 20


def measure(tally, path, make):
    """Milliseconds for four times START, and how many times START's."""
    ms = []
    for n in (START, 4 * START):
        write(path, make, n)
        # 1: a limit of the kernel, or a mistake that the shape is about
        ms.append(cpu_ms(tally, path, (0, 1)))
    return ms[1], ms[1] / max(ms[0], LEAST_MS)


def check(tally, names):
    bad = 0
    with tempfile.TemporaryDirectory(prefix='tally-bench.') as tmp:
        for name in names or SHAPES:
            for _ in range(3):  # a busy machine is no reason to fail
                ms, growth = measure(tally, os.path.join(tmp, 'x.stp'),
                                     SHAPES[name])
                if growth < GROWTH_MAX:
                    break
            else:
                bad += 1
                print(f'{name}: {ms:.0f} ms for {4 * START}, {growth:.1f} '
                      f'times as long as for {START}')
    print('growth is linear' if not bad else f'{bad} shapes grow faster')
    return bad


def main(tally, *names):
    if names and '/' in names[0]:
        part, parts = (int(x) for x in names[0].split('/'))
        names = list(SHAPES)[part - 1::parts]
    return 1 if check(tally, names) else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

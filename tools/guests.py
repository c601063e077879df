# SPDX-License-Identifier: MIT
"""Runs the golden tests of tier T3 in guests, through tools/guest."""

import glob
import os
import re
import shlex
import subprocess
import tempfile
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
KERNELS = ['6.1', '6.12', 'rt']
BOOTS = 3  # how often a test may lose its guest
# Seconds for a boot, of which an idle machine needs three.
BOOT = 180
# Both outputs and the status come back in one text, between marker lines.
ONE = r'''echo "@@ {name}"
# New files: a test that was killed may leave writers of the old ones.
rm -rf $TMP /tmp/out /tmp/err
mkdir $TMP
cd "/root/{folder}"
timeout -s KILL {limit:.0f} {command} >/tmp/out 2>/tmp/err <{stdin}
status=$?
cat /tmp/out; echo "@@ err"; cat /tmp/err; echo "@@ = $status"
'''


def folder_of(test):
    return test.name.partition('@')[0]


def modules_of(test):
    """The modules of the kernel that it wants: module:NAME in its needs, with a
    ? behind it if not each kernel has it."""
    return [w.partition(':')[2] for w in (test.read('.needs') or '').split()
            if w.startswith('module:')]


def boot(kernel, tests, tmp, options):
    """One boot a kernel runs all its tests."""
    limit = 2 * options.timeout
    files = [f'{tmp}/all.sh:all.sh']
    with open(tmp + '/all.sh', 'w', encoding='utf-8') as f:
        f.write('export TMP=/tmp/test\n')
        for t in tests:
            f.write(ONE.format(
                name=t.name, folder=folder_of(t), limit=limit,
                command=shlex.join(t.command()),
                stdin=shlex.quote(os.path.basename(t.base) + '.in')
                if os.path.exists(t.base + '.in') else '/dev/null'))
            files += [f'{path}:{folder_of(t)}/{os.path.basename(path)}'
                      for path in glob.glob(glob.escape(t.base) + '.*')]
    with open(tmp + '/guest.out', 'w+b') as out:
        p = subprocess.Popen(
            [TOOLS + '/guest', '--marks', '--build', options.build,
             '--timeout', str(BOOT + limit), kernel]
            + [word for f in files for word in ('--file', f)]
            + [word for t in tests for m in modules_of(t)
               for word in ('--module', m.rstrip('?'))]
            + ['--', 'sh', 'all.sh'], stdout=out, stderr=subprocess.PIPE)
        why = follow(p.stderr, kernel, len(tests))
        p.wait()
        out.seek(0)
        return p.returncode, out.read(), why


def follow(lines, kernel, total):
    """Says how far a guest is; returns what else it said."""
    done, said, rest = 0, time.monotonic(), b''
    for line in lines:
        if not line.startswith(b'@@ '):
            rest += line
            continue
        done += line.startswith(b'@@ =')
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f'# {kernel}: {done} of {total} ...', flush=True)
    return rest


def take_results(tests, out):
    """Sets guest of the tests that a boot gave results for."""
    text = out.decode('latin-1')
    for t in tests:
        m = re.search('^@@ ' + re.escape(t.name) + r'\n(.*?)@@ err\n(.*?)'
                      r'@@ = (\d+)$', text, re.M | re.S)
        if m:
            t.guest = int(m.group(3)), m.group(1), m.group(2)


def say_death(kernel, test, began, why):
    print(f'# {kernel} died ' + (f'in {test.name}:' if began else
                                 'before its tests:'), flush=True)
    for line in why.splitlines()[-20:]:
        print('#     ' + line, flush=True)


def run_kernel(kernel, left, options):
    """What a guest left without a result gets another boot. A test in which
    guests died BOOTS times fails, and all do if as many never came to them."""
    deaths = 0
    while left:
        print(f'# booting {kernel} for {len(left)} tests', flush=True)
        with tempfile.TemporaryDirectory(prefix='tally-guest.') as tmp:
            status, out, why = boot(kernel, left, tmp, options)
        why = why.decode('latin-1')
        if status == 77:
            for t in left:
                t.guest = None, why.strip().split('\n')[-1]
            return
        first = left[0]
        take_results(left, out)
        absent = dict(re.findall(r'^tools/guest: no module (\S+): (.*)$', why,
                                 re.M))
        for t in left:
            for name in modules_of(t):
                if name in absent:
                    t.guest = None, f'no module {name}: {absent[name]}'
        left = [t for t in left if t.guest is None]
        if not left:
            return
        began = f'@@ {left[0].name}\n'.encode() in out
        say_death(kernel, left[0], began, why)
        deaths = deaths + 1 if left[0] is first else 1
        if deaths < BOOTS:
            continue
        text = out.decode('latin-1')
        for t in left[:1] if began else left:
            t.guest = 1, text[text.rfind(f'@@ {t.name}\n'):] if began else \
                text, 'no result from the guest\n' + why
        left = left[1:] if began else []
        deaths = 0


def run(tests, options):
    """Sets guest of each test: (status, stdout, stderr), or (None, why). The
    emulator loses a guest now and then, mostly a real-time one while it boots,
    which is said."""
    for kernel in KERNELS:
        mine = [t for t in tests if t.tier == '@' + kernel]
        for t in mine:
            t.guest = None
        run_kernel(kernel, mine, options)

# SPDX-License-Identifier: MIT
"""Runs the golden tests of tier T3 in guests, through tools/guest."""

import os
import re
import shlex
import subprocess
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))
KERNELS = ['6.1', '6.12', 'rt']


def run(tests, options):
    """One boot a kernel runs all its tests; their results come back in one
    text, cut apart by marker lines."""
    for kernel in KERNELS:
        mine = [t for t in tests if t.tier == '@' + kernel]
        if not mine:
            continue
        with tempfile.TemporaryDirectory(prefix='tally-guest.') as tmp:
            with open(tmp + '/all.sh', 'w', encoding='utf-8') as f:
                for t in mine:
                    f.write(f'echo "@@ {t.name}"; {shlex.join(t.command())} '
                            '2>&1; echo "@@ = $?"\n')
            files = [f'{tmp}/all.sh'] + [t.path for t in mine]
            p = subprocess.run(
                [TOOLS + '/guest', '--build', options.build, '--timeout',
                 str(60 + 10 * len(mine)), kernel]
                + [a for f in files for a in ('--file', f)]
                + ['--', 'sh', 'all.sh'], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, check=False)
        text = p.stdout.decode('latin-1')
        why = p.stderr.decode('latin-1').strip().split('\n')[-1]
        for t in mine:
            m = re.search(r'^@@ ' + re.escape(t.name) + r'\n(.*?)^@@ = (\d+)$',
                          text, re.M | re.S)
            if m:
                t.guest = int(m.group(2)), m.group(1), None
            else:
                t.guest = 1, text + why, why if p.returncode == 77 else None

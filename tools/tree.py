# SPDX-License-Identifier: MIT
"""The files of the tree, without what builds leave: not by git, so that the
checks also run on an unpacked archive."""

import os

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files(suffixes=('',), under=''):
    """Paths relative to the top, sorted."""
    found = []
    for folder, dirs, names in os.walk(os.path.join(TOP, under).rstrip('/')):
        dirs[:] = [d for d in dirs if d not in ('.git', '.cache', '__pycache__')
                   and not (folder == TOP and d.startswith('build'))]
        found += [os.path.relpath(os.path.join(folder, n), TOP)
                  for n in names if n.endswith(tuple(suffixes))
                  and not n.endswith('.pyc')]
    return sorted(found)

# SPDX-License-Identifier: MIT
"""What a golden test may need of the machine (its .needs file), and how to
see whether it is there: words, some with an argument after a colon."""

import ctypes
import mmap
import os
import shutil
import tempfile


def can_bpf():
    """Whether this process may make a BPF map (an array of one word)."""
    attr = (ctypes.c_uint32 * 32)(2, 4, 8, 1)
    fd = ctypes.CDLL(None).syscall(321, 0, attr, 72)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def has_symbol(name):
    with open('/proc/kallsyms', encoding='ascii', errors='replace') as f:
        return any(line.split()[2] == name for line in f)


def has_libdw(_):
    try:
        ctypes.CDLL('libdw.so.1')
    except OSError:
        return False
    return True


def written_bytes():
    with open('/proc/self/io', encoding='ascii') as f:
        return int(f.read().split('write_bytes:')[1].split()[0])


def has_disk(_):
    """Whether files for a time are on a disk: one that is written past the
    cache goes to the block layer, which counts it."""
    block = mmap.mmap(-1, 4096)
    try:
        before = written_bytes()
        with tempfile.TemporaryDirectory() as tmp:
            fd = os.open(tmp + '/x', os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
            try:
                os.write(fd, block)
            finally:
                os.close(fd)
        return written_bytes() > before
    except OSError:
        return False


def file_check(path):
    return lambda arg: os.path.exists(path)


NEEDS = {
    'host': (lambda arg: True, 'not in a guest'),
    'root': (lambda arg: os.geteuid() == 0, 'needs root'),
    'bpf': (lambda arg: can_bpf(), 'the kernel refuses bpf() here'),
    'btf': (file_check('/sys/kernel/btf/vmlinux'), 'no kernel BTF'),
    'kprobe': (file_check('/sys/bus/event_source/devices/kprobe'),
               'this kernel has no kprobes'),
    'uprobe': (file_check('/sys/bus/event_source/devices/uprobe'),
               'this kernel has no uprobes'),
    'libdw': (has_libdw, 'libdw.so.1 is not installed'),
    'perf': (file_check('/proc/sys/kernel/perf_event_paranoid'),
             'this kernel has no perf events'),
    'tracefs': (file_check('/sys/kernel/tracing/events'),
                'tracefs is not mounted'),
    'disk': (has_disk, 'temporary files are not on a disk'),
    'symbol': (has_symbol, 'no such kernel symbol'),
    'cmd': (shutil.which, 'no such command'),
    'file': (os.path.exists, 'no such file'),
    'cpus': (lambda arg: len(os.sched_getaffinity(0)) >= int(arg),
             'too few CPUs'),
}


def missing(words):
    """Why a test with these needs cannot run here; None: it can."""
    for need in words:
        word, _, arg = need.partition(':')
        check, reason = NEEDS[word]
        if not check(arg):
            return f'{reason}: {arg}' if arg else reason
    return None

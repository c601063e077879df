# SPDX-License-Identifier: MIT
"""tally merge is exact: however a stream is split into runs, and in whatever
order and grouping their snapshots are added up, the result is the snapshot of
one run, bit for bit."""

import json
import os
import random
import subprocess

SCRIPT = '''global all, lin, grid, few, by
probe kernel.trace("sys_enter") {
	all <<< $id; lin <<< $id; grid <<< $id; few <<< $id
	by[pid(), execname()] <<< $id
}
probe end {
	printf("%d %d %d %d %d\\n", @count(all), @sum(all), @min(all), @max(all),
	       @distinct(all))
	printf("%d %d\\n", @stddev(all), @hist_linear(lin, -50, 950, 10)[2])
	printf("%d %d\\n", @median(grid), @mode(grid))
	printf("%d\\n", @hist_log(few)[64])
	foreach ([p, e] in by)
		printf("%d %d %d\\n", @variance(by[p, e]), @hist_log(by[p, e])[65],
		       @quantile(by[p, e], 9, 10))
}
'''


def events(rng):
    """Lines of an event file; a few keys have most of the samples."""
    lines, time = [], 0
    for _ in range(rng.randrange(1, 400)):
        time += rng.randrange(1, 10 ** rng.randrange(1, 8))
        value = rng.choice([
            rng.randrange(-9, 99), rng.randrange(-2**63, 2**63), 2**63 - 1,
            -2**63, 5 * 10**9 + rng.randrange(10**9), 0])
        lines.append(f'{time} kernel.trace("sys_enter") '
                     f'pid={int(rng.paretovariate(1)) % 9} '
                     f'execname=n{rng.randrange(3)} args=0,{value}\n')
    return lines


def check(tally, tmp, seed):
    """What is wrong, as lines."""
    rng = random.Random(seed)
    lines, parts = events(rng), rng.randrange(2, 6)
    split = [[] for _ in range(parts)]
    for line in lines:
        # One run may have nothing, or nearly all.
        split[min(rng.randrange(parts), rng.randrange(parts))].append(line)
    with open(tmp + '/s.stp', 'w', encoding='utf-8') as f:
        f.write(SCRIPT)

    def run(name, text):
        with open(f'{tmp}/{name}.events', 'w', encoding='utf-8') as f:
            f.writelines(text)
        subprocess.run(
            [tally, '-w', '--suppress-handler-errors', '--events',
             f'{tmp}/{name}.events', '--snapshot', f'{tmp}/{name}',
             f'{tmp}/s.stp'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=True)
        return name

    whole = run('whole', lines)
    files = [run(f'part{i}', text) for i, text in enumerate(split)]
    step = 0
    while len(files) > 1:
        taken = [files.pop(rng.randrange(len(files)))
                 for _ in range(rng.randrange(2, len(files) + 1))]
        subprocess.run(
            [tally, 'merge', '-o', f'{tmp}/sum{step}']
            + [f'{tmp}/{name}' for name in taken], check=True)
        files.append(f'sum{step}')
        step += 1

    def load(name):
        with open(os.path.join(tmp, name), encoding='utf-8') as f:
            return json.load(f)

    want, got = load(whole), load(files[0])
    wrong = []
    for part in 'aggregates', 'ledger':
        if got[part] != want[part]:
            wrong.append(f'{part} of {parts} runs of {len(lines)} events '
                         f'differ from one run\'s (seed {seed})')
    if len(got['hosts']) != parts:
        wrong.append(f'{len(got["hosts"])} hosts, not {parts}')
    return wrong

# SPDX-License-Identifier: MIT
"""bench/run exclusion: builds exclusion.c, runs it here or in a guest, and
prints its lines as tables of medians (docs/design/exclusion.md holds a set)."""
import collections, os, re, signal, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "bench-exclusion")
TALLY = os.environ.get("TALLY", os.path.join(ROOT, "build", "tally"))
GAPS = {"0": "none", "1": "a call"}


def length(ns):
    ns = int(ns)
    return f"{ns // 1000} us" if ns >= 1000 else f"{ns} ns"


def build():
    os.makedirs(WORK, exist_ok=True)
    me = os.path.join(ROOT, "bench")
    subprocess.run(["clang", "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-I/usr/include/x86_64-linux-gnu",
                    "-c", f"{me}/exclusion.bpf.c", "-o", f"{WORK}/exclusion.bpf.o"], check=True)
    # Static: it must run in a guest that has no libraries.
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"{me}/exclusion.c", "-o", f"{WORK}/exclusion",
                    "-static", "-pthread", "-lbpf", "-lelf", "-lz"], check=True)


def measure(guest, cpus, rounds, ms, parts):
    """Lines of the harness, also kept in build/bench-exclusion."""
    tail = ["exclusion.bpf.o", str(rounds), str(ms)] + parts
    if guest:
        cmd = [f"{ROOT}/tools/guest", guest, "--smp", str(cpus), "--timeout", "1800",
               "--file", f"{WORK}/exclusion", "--file", f"{WORK}/exclusion.bpf.o", "--", "./exclusion"] + tail
    else:
        cmd = [f"{WORK}/exclusion"] + tail
    text = subprocess.run(cmd, cwd=WORK, stdout=subprocess.PIPE, text=True, check=True).stdout
    with open(f"{WORK}/{guest or 'here'}.tsv", "w") as f:
        f.write(text)
    return text


class Table(dict):
    """What one part measured: (scheme, point ...) -> rounds of numbers."""

    def __init__(self, lines, part, keys):
        super().__init__()
        for line in lines:
            f = line.split("\t")
            if f[0] == part:
                key = tuple(f[2:2 + keys])
                self.setdefault(key, []).append([float(x) for x in f[2 + keys:]])

    def points(self):
        return list(dict.fromkeys(k[1:] for k in self))

    def schemes(self):
        return list(dict.fromkeys(k[0] for k in self))


def row(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def table(say, head, rows):
    say(row(head))
    say("|" + "---|" * len(head))
    for r in rows:
        say(row(r))


def percent(part, whole):
    """Sums over rounds: rare things are rare in each."""
    if not whole:
        return "-"
    p = 100 * part / whole
    return "0" if not part else f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 1 else f"{p:.1f}"


def rounds_sum(rounds, column):
    return sum(r[column] for r in rounds)


def say_cost(say, lines):
    t = Table(lines, "cost", 1)
    if not t:
        return
    say("\nOne CPU alone: ns added to an event (median of paired differences)\n")
    base = [r[0] for r in t[("none",)]]
    table(say, ["scheme", "ns"], [[s, f"{statistics.median(r[0] - b for r, b in zip(t[(s,)], base)):+.1f}"]
                                  for s in t.schemes() if s != "none"])


def say_load(say, lines):
    t = Table(lines, "load", 4)
    if not t:
        return
    schemes = [s for s in t.schemes() if s not in ("none", "no-owner")]
    say("\nSkipped, % of events\n")
    table(say, ["section", "gap"] + schemes,
          [[length(p[0]), GAPS.get(p[1]) or length(p[1])] +
           [percent(rounds_sum(t[(s,) + p], 0) - rounds_sum(t[(s,) + p], 1), rounds_sum(t[(s,) + p], 0))
            for s in schemes] for p in t.points()])
    say("\nEvents that ran per second, as a ratio to owner (median over rounds)\n")

    def rate(s, p):
        return [r[1] / r[5] for r in t[(s,) + p]]
    table(say, ["section", "gap"] + schemes[:-1] + ["owner, runs/ms"],
          [[length(p[0]), GAPS.get(p[1]) or length(p[1])] +
           [f"{statistics.median(a / b for a, b in zip(rate(s, p), rate('owner', p))):.2f}" for s in schemes[:-1]] +
           [f"{statistics.median(rate('owner', p)) * 1e6:.1f}"] for p in t.points()])
    say("\nFairness: runs of the CPU that ran least over runs of the one that ran most, no gap (median)\n")
    table(say, ["section"] + schemes,
          [[length(p[0])] + [f"{statistics.median(r[3] / r[4] if r[4] else 0 for r in t[(s,) + p]):.2f}"
                             for s in schemes] for p in t.points() if p[1] == "0"])
    runs, lost = collections.Counter(), collections.Counter()
    for key, rounds in t.items():
        runs[key[0]] += rounds_sum(rounds, 1)
        lost[key[0]] += rounds_sum(rounds, 2)
    say("\nUpdates of the guarded counter lost: " +
        "; ".join(f"{s} {lost[s]:.0f} of {runs[s]:.0f}" for s in t.schemes()))
    events = collections.Counter()
    for key, rounds in t.items():
        events[key[0]] += rounds_sum(rounds, 0)
    say("\nSkipped over all points: " +
        "; ".join(f"{s} {events[s] - runs[s]:.0f} of {events[s]:.0f}" for s in schemes))


def say_cancel(say, lines):
    t = Table(lines, "cancel", 4)
    if not t:
        return
    schemes = ["add-read", "add-fetch", "try", "spin-10", "owner"]
    say("\nSkipped although nobody ran: % of events (% of skips), both at least; try, spin and owner are controls\n")

    def cell(rounds):
        events, skips, alone = (rounds_sum(rounds, i) for i in range(3))
        return f"{percent(alone, events)} ({percent(alone, skips)})" if alone else "0"
    table(say, ["section", "gap"] + schemes,
          [[length(p[0]), GAPS.get(p[1]) or length(p[1])] + [cell(t[(s,) + p]) for s in schemes]
           for p in t.points()])
    total = collections.Counter()
    for key, rounds in t.items():
        total[key[0]] += rounds_sum(rounds, 2)
        total[key[0], "skips"] += rounds_sum(rounds, 1)
    say("\nOver all points: " + "; ".join(f"{s} {total[s]:.0f} of {total[s, 'skips']:.0f} skips" for s in t.schemes()))


def say_nested(say, lines):
    t = Table(lines, "nested", 2)
    if not t:
        return
    say("\nAn interrupt over the holder, one CPU: skipped % | mean wait ns | longest wait us (median of rounds)\n")
    points = t.points()

    def cell(rounds):
        return (f"{percent(rounds_sum(rounds, 1), rounds_sum(rounds, 0))} | "
                f"{statistics.median(r[2] for r in rounds):.0f} | "
                f"{statistics.median(r[3] for r in rounds) / 1000:.1f}")
    head = ["scheme"]
    for p in points:
        head += [f"{length(p[0])}: skipped", "mean", "longest"]
    table(say, head, [[s] + [cell(t[(s,) + p]) for p in points] for s in t.schemes() if s != "none"])
    lost = collections.Counter()
    for key, rounds in t.items():
        lost[key[0]] += rounds_sum(rounds, 4)
    say("\nUpdates lost: " + "; ".join(f"{s} {lost[s]:.0f}" for s in t.schemes()))


# The event is the harness's system call. The timer needs x and y together, so
# the first handler locks them; without the timer it does not.
EVENT = 'probe kernel.trace("sys_enter") { if ($id == 7000) { x++; for (i = 0; i < %d; i++) z = z * 5 + i; y++ } } '
BOTH = "probe timer.ms(10) { seen++; if (x != y) bad++ } "
END = 'probe end { printf("%d %d %d %d\\n", x, y, bad, seen) }'
COST = 'global x, y, bad = 0 probe kernel.trace("sys_enter") { x++; y++ } %s probe end { println(x, y, bad) }'


def tally_under_load(loop, limits):
    """(events, skipped, x, y, torn readings, readings) of tally's own handler, all CPUs hammering."""
    script = "global x, y, z, bad, seen " + EVENT % loop + BOTH + END
    cmd = [TALLY, "-wt", "-D", "MAXSKIPPED=2000000000", "-D", "MAXACTION=100000"] + limits + ["-e", script]
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    hammer = subprocess.run([f"{WORK}/exclusion", "hammer", "20", "20"], stdout=subprocess.PIPE, text=True, check=True)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    hits, handled = map(int, re.search(r"sys_enter.*hits: (\d+), handled: (\d+)", err).groups())
    return [int(hammer.stdout.split()[1]), hits - handled] + [int(w) for w in out.split()]


def bench_tally(args, say):
    """tally's own code: what its locks cost, and what they let through."""
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"{ROOT}/bench/event.c", "-o", f"{WORK}/event", "-lbpf"], check=True)
    free = COST % ""
    locked = COST % "probe timer.s(1000) { if (x != y) bad++ }"
    done = subprocess.run([f"{WORK}/event", str(3 * args.rounds), f"free=exec {TALLY} -w -e '{free}'",
                           f"locked=exec {TALLY} -w -e '{locked}'"], stdout=subprocess.PIPE, text=True, check=True)
    ns = {"free": [], "locked": []}
    for line in done.stdout.splitlines():
        name, _, _, run = line.split()
        ns[name].append(float(run))
    say(f"\ntally's handler {{ x++; y++ }}, ns a run, kernel's statistics: without lock "
        f"{statistics.median(ns['free']):.1f}, with {statistics.median(ns['locked']):.1f}, difference "
        f"{statistics.median(b - a for a, b in zip(ns['free'], ns['locked'])):.1f}")
    say("\ntally's handler { x++; a loop; y++ } with an event a call from all CPUs; a timer reads both\n")
    rows = []
    for loop in (0, 50, 500):
        for limits in ([], ["-D", "MAXTRYLOCK=0"]):
            sums = [0] * 6
            for _ in range(args.rounds):
                sums = [a + b for a, b in zip(sums, tally_under_load(loop, limits))]
            events, skipped, x, y, bad, seen = sums
            rows.append([loop, " ".join(limits) or "default", events, x, skipped, percent(skipped, events),
                         events - x - skipped, f"{bad} of {seen}"])
    table(say, ["turns", "limits", "events", "ran", "skipped", "%", "unaccounted", "x != y"], rows)


def report(text, say):
    lines = text.splitlines()
    for part in (say_cost, say_load, say_cancel, say_nested):
        part(say, lines)


def bench(args, say):
    build()
    for guest in [None] + args.guest:
        cpus = args.smp if guest else len(os.sched_getaffinity(0))
        say(f"\nexclusion, {'guest ' + guest if guest else os.uname().release}, {cpus} CPUs, {args.rounds} rounds")
        # A guest's CPUs share the machine's: longer bursts, or some never run.
        report(measure(guest, cpus, args.rounds, 100 if guest else 20, []), say)
        if not guest and os.access(TALLY, os.X_OK):
            bench_tally(args, say)


if __name__ == "__main__":
    with open(sys.argv[1]) as saved:
        report(saved.read(), print)

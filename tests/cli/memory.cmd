# -v says what aggregates and arrays take, before anything is loaded; over the
# limit it is refused with the number and the option that helps.
set +e
cat >"$TMP/x.stp" <<'END'
global s, k[1000], h[10], q[50], b[30], a, own
probe kernel.trace("sys_enter") {
	s <<< $id
	k[pid(), execname()] <<< $id
	h[pid()] <<< $id
	q[pid()] <<< $id
	b[pid()]++
	if (@avg(a) < 3) a <<< $id
}
probe kernel.trace("sys_exit") { s <<< 1 }
probe end {
	own["x"] <<< 1
	println(@count(s), @count(k[1, ""]), @min(own["x"]), b[1])
	println(@hist_log(h[1])); println(@median(q[1]))
}
END
tally -v --suppress-handler-errors --events=/dev/null "$TMP/x.stp" \
    >/dev/null 2>"$TMP/err"
python3 - "$TMP/err" <<'END'
import os, re, sys
text = open(sys.argv[1]).read()
assert text.index('memory of all') < text.index('Pass 5: starting')
said = dict(re.findall(r'memory of (\w+): (.*)', text))
cpus = 1 + int(re.split('[-,]', open(
    '/sys/devices/system/cpu/possible').read().strip())[-1])
for name, start in (
        ('s', f'2 cells x {cpus} CPUs x 8 bytes x 2 banks = '),
        ('k', '1000 entries x '), ('h', '10 entries x '),
        ('q', '50 entries x '), ('b', '30 entries x 16 bytes, with keys '),
        ('a', f'1 cell x {cpus} CPUs x 24 bytes x 2 banks = '),
        ('own', 'as needed; host memory: no kernel probe uses it')):
    if not said[name].startswith(start):
        print(name, 'is', said[name])
for name, words in (
        ('s', 'banked: .*plain adds: no other program writes it'),
        ('k', 'banked: .*(per-CPU|shared) hash.*(plain adds|atomic): '),
        ('q', '300 x 512 bytes.*banked: .*grid by octaves'),
        ('b', 'shared hash'),
        ('a', 'live: .*plain adds: no other program writes it')):
    if not re.search(words, said[name]):
        print(name, 'is', said[name])
limit, unit = re.search(r'the limit is (\d+) (KiB|MiB)', said['all']).groups()
share = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 4
if abs(int(limit) - share / {'KiB': 1024, 'MiB': 1 << 20}[unit]) > 1:
    print('the limit is', limit, unit, 'not', share, 'bytes')
END
for limit in 3 2; do
	tally -DMEMORY_MIB=$limit --events=/dev/null -e '
global a[30000]
probe kernel.trace("sys_enter") { a[pid()] = 1 }
probe end { println(a[1]) }' 2>&1
done
tally -DMEMORY_MIB=lots -e 'probe begin { exit() }' 2>&1
exit 0

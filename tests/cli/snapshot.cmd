# Two runs' snapshots merged are the snapshot of one run over all their events,
# to the last bit, in any order and grouping; what is not a snapshot is refused.
python3 - <<'END'
import os, random
random.seed(11)
lines, time = [], 0
for i in range(1500):
    time += random.randint(1, 99999)
    v = random.choice([random.randint(-9, 99), random.randint(-2**63, 2**63 - 1),
                       2**63 - 1, -2**63, 5 * 10**9])
    lines.append(f'{time} kernel.trace("sys_enter") pid={i % 7} '
                 f'execname=p{i % 3} args=0,{v}\n')
for name, part in (('all', lines), ('a', lines[::3]), ('b', lines[1::3]),
                   ('c', lines[2::3])):
    with open(f'{os.environ["TMP"]}/{name}.events', 'w') as f:
        f.writelines(part)
END
cd "$TMP"
cat >s.stp <<'END'
global one, log, lin, grid, by, few[3]
probe kernel.trace("sys_enter") {
	one <<< $id; log <<< $id; lin <<< $id; grid <<< $id
	by[pid(), execname()] <<< $id
	few[pid()] <<< 1
}
probe end {
	printf("%d %d %d %d %d\n", @count(one), @sum(one) != 0, @min(one),
	       @max(one), @distinct(one))
	one_sd = @stddev(one); log_zero = @hist_log(log)[64]
	lin_low = @hist_linear(lin, 0, 100, 10)[0]; med = @median(grid)
	foreach ([p, e] in by) n += @count(by[p, e]) + (@avg(by[p, e]) & 0)
	foreach (p in few) m += @count(few[p])
	printf("%d %d %d\n", n, m, (one_sd + log_zero + lin_low + med) != 0)
}
END
for f in all a b c; do
	tally -w --events $f.events --snapshot $f.json s.stp
done
tally merge a.json b.json c.json -o abc
tally merge c.json a.json -o ca && tally merge b.json ca >bca
tally merge b.json c.json -o bc && tally merge a.json bc >a_bc
python3 - <<'END'
import json
# Which keys an array too small takes is each run's own matter: there only the
# total is the same.
def load(name):
    s = json.load(open(name))
    few = s['aggregates'].pop([a['name'] for a in s['aggregates']]
                              .index('few'))
    assert all(p.pop('map_full') for p in s['ledger'])
    return s, (sum(r['cell']['count'] for r in few['rows'])
               + few['other']['count'])

want, total = load('all.json')
for name in 'abc', 'bca', 'a_bc':
    got, few = load(name)
    print(name, got['aggregates'] == want['aggregates'],
          got['ledger'] == want['ledger'], len(got['hosts']), few)
assert open('abc').read().split('"ledger"')[1] == (
    open('a_bc').read().split('"ledger"')[1])
END
tally merge --print abc | grep -c '^by\['

try() {
	status=0
	tally merge "$@" >out 2>err || status=$?
	echo "$status: $(cat out err)"
}
head -c 3000 a.json >cut; try cut
sed 's/"tally_snapshot": 1/"tally_snapshot": 2/' a.json >new; try new
sed '0,/"count": [0-9]*/s//"count": -1/' a.json >neg; try neg
sed 's/"count": \([0-9]*\)/"count": 1\1/' a.json >sum; try sum
sed 's/"name": "one"/"name": "o\\n# EOF"/' a.json >name; try name
sed 's/"name": "one"/"name": "9"/' a.json >name; try --openmetrics name
sed 's/"name": "one"/"name": "o$e_9"/' a.json >name
tally merge --openmetrics name | grep 'o:e' | head -n 2
# Before some losses were counted, files did without them.
grep -v '"unplaced"\|"late_cpus"' a.json |
	sed 's/\("errors": [0-9]*\),/\1/' >old
tally merge old -o older && cmp older a.json && echo "an old file"
echo '{}' >empty; try a.json empty
: >nothing; try nothing
head -c 100000 /dev/zero | tr '\0' '[' >deep; try deep
try none
tally -w --events a.events --snapshot other.json -e 'global one
probe kernel.trace("sys_enter") { one <<< 1 } probe end { println(@count(one)) }'
try a.json other.json
try | head -n 1
try -x 2>&1 | head -n 1
# Said before a long run, not after it.
tally --events a.events --snapshot /nowhere/x s.stp 2>&1 || true
tally --events a.events --snapshot . s.stp 2>&1 || true

# A pipe is written to, not replaced by a file of its name.
mkfifo pipe
cat pipe >piped &
tally -w --events a.events --snapshot pipe s.stp >printed
wait
test -p pipe && tally merge --print piped | grep -c '^by\['
ls pipe*

# Two probes of one point are two rows of the ledger, in any order of merging.
for f in a b; do
	tally -w --events $f.events --snapshot two.$f -e 'global s
	probe kernel.trace("sys_enter") { s <<< 1 }
	probe kernel.trace("sys_enter") { if (pid() == 3) next; s <<< 1 }' >out
done
tally merge two.a two.b | sed '1,/"ledger"/d' >ab
tally merge two.b two.a | sed '1,/"ledger"/d' >ba
cmp ab ba && grep -c '"probe"' ab
# A run that is there twice counts twice, which is told.
tally --snapshot one.json -e 'global s probe begin { s <<< 1; exit() }
probe end { println(@count(s)) }'
tally merge --print one.json a.json 2>&1 | sed 's/ (.*//'
tally merge --print one.json one.json 2>&1 | sed 's/ (.*//'

# Handlers of tracepoints, functions, page faults and clocks on all CPUs keep
# invariants between globals, which timers look at. None is ever broken, each
# event is in the ledger, and without locks the invariants do break: two of them
# sooner or later in any case, and the work lasts until then. EXACT: times
# longer; ROUNDS: runs.
n=$((${EXACT:-1} * 5000))
cd "$TMP"
cat >exclusion.stp <<'END'
@define check(what, ok) %( if (!(@ok)) broken[@what] <<< 1 %)
global acct, lo = 0, hi = 100, made, count, first, second, name1, name2
global broken, events

function transfer(n) {
	@check("bank", acct[0] + acct[1] + acct[2] == 3000)
	acct[n % 3] -= n
	acct[(n + 1) % 3] += n
	events <<< 1
}
function pair(n) {
	@check("pair", hi - lo == 100)
	lo = n
	hi = n + 100
	events <<< 1
}
function insert(n) {
	k = n & 7
	if (k in made) {
		delete made[k]
		count--
	} else {
		made[k] = n
		count++
	}
	@check("insert", count >= 0 && count <= 8)
	events <<< 1
}
function link(n) {
	@check("link", second == first * 3)
	first++
	second += 3
	events <<< 1
}
function text() {
	@check("text", name1 == name2)
	name1 = execname()
	name2 = name1
	events <<< 1
}

probe begin { acct[0] = acct[1] = acct[2] = 1000 }

probe kernel.trace("sys_enter") { transfer(tid() + cpu()) }
probe kernel.trace("sys_enter") { pair(tid()) }
probe kernel.trace("sys_exit") { insert(cpu() + $ret) }
probe kernel.trace("sys_exit") { link(1) }
probe process("work-mix").function("mix_step") { transfer(ulong_arg(1)) }
probe process("work-mix").function("mix_step") { insert(ulong_arg(1)) }
probe process("work-mix").function("mix_step") { text() }
probe perf.sw.page_faults.sample(1) { pair(pid()) }
probe perf.sw.page_faults.sample(1) { text() }
probe timer.profile { link(2) }
probe timer.profile.freq.hz(997) { transfer(5) }
probe timer.profile.freq.hz(997) { insert(5) }

probe timer.us(500) { @check("bank", acct[0] + acct[1] + acct[2] == 3000) }
probe timer.us(700) { @check("pair", hi - lo == 100) }
probe timer.ms(1) {
	n = 0
	foreach (k in made) n++
	@check("insert", n == count)
}
probe timer.us(900) { @check("link", second == first * 3) }
probe timer.us(800) { @check("text", name1 == name2) }

probe end {
	n = 0
	foreach (k in made) n++
	@check("insert", n == count)
	foreach (w in broken) printf("%s broken %d times\n", w, @count(broken[w]))
	printf("%d events\n", @count(events))
}
END
run() {
	tally -t -DMAXSKIPPED=1000000000 "$@" \
		-c "work-mix $((4 * n)) $n $((n / 5)) 4 $stop" exclusion.stp
}
stop=
i=0
while [ $i -lt "${ROUNDS:-1}" ]; do
	run >out 2>err
	cat out err >>all
	grep broken out || true
	i=$((i + 1))
done
awk -v rounds="${ROUNDS:-}" '
/ events$/ { events += $1 }
/, hits: [0-9]/ && !/^(begin|end)/ {
	h = d = $0
	sub(/.*, hits: /, "", h)
	sub(/.*, handled: /, "", d)
	hits += h; handled += d
	if (!/^timer\.[mu]s/) changed += d
}
/ gave up waiting/ { n = $0; sub(/ gave up waiting.*/, "", n)
	sub(/.*[ ,]/, "", n); waited += n }
/ interrupted another/ { n = $0; sub(/ interrupted another.*/, "", n)
	sub(/.*[ ,]/, "", n); nested += n }
/^ERROR/
END {
	print changed - events, "events missing"
	print hits - handled - waited - nested, "handlers missing"
	if (rounds) printf "%d events, %d waited in vain, %d nested\n",
		events, waited, nested
}' all
stop=stop
run --suppress-handler-errors -DTALLY_NO_LOCKS -E '
global told
probe timer.ms(20) {
	if (@count(broken["bank"]) && @count(broken["insert"]) && !told++)
		system(": >stop")
}' 2>/dev/null |
	grep -E '^(bank|insert) broken [0-9]+ times' | sed 's/[0-9]* times//' | sort

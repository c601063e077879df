# Texts too long for the stack are made in scratch slots, which a handler claims:
# handlers on top of each other (clock over page fault over system call) do not
# write into each other's. Each text tells by its parts whether it is whole; who
# finds no slot is counted.
tally -w --format=json -DMAXSKIPPED=1000000000 \
	-c "work-mix 8000 0 1500 4" -e '
global bad, done
function check(tag, n) {
	x = tag . sprintf("%08x", n) . "/"
	x = x . x . x . x
	y = x . x . x . x
	z = y . "." . y
	if (strlen(y) != 16 * 12 || strlen(z) != 32 * 12 + 1) bad <<< 1
	if (substr(z, 0, 12) != substr(y, 15 * 12, 12)) bad <<< 1
	if (substr(z, 16 * 12 + 1, 16 * 12) != y) bad <<< 1
	if (substr(z, 0, 3) != tag || substr(y, 180, 3) != tag) bad <<< 1
	done <<< 1
}
probe kernel.trace("sys_enter") { check("ent", tid()) }
probe kernel.trace("sys_exit") { check("exi", cpu()) }
probe perf.sw.page_faults.sample(1) { check("flt", pid()) }
probe kernel.trace("hrtimer_expire_entry") { check("hrt", 7) }
probe timer.profile.freq.hz(4000) { check("clk", cpu() + 77) }
probe end { printf("bad %d done %d\n", @count(bad), @count(done)) }' 2>/dev/null |
	sed 's/{"probe":/\n&/g' >"$TMP/out"
awk '
function field(name) {
	if (!match($0, "\"" name "\":[0-9]+")) return 0
	s = substr($0, RSTART, RLENGTH); sub(/.*:/, "", s); return s + 0 }
/bad [0-9]/ { s = $0; sub(/.*bad /, "", s); print "bad", s + 0
	sub(/.*done /, "", s); done = s + 0 }
/"hits"/ { handled += field("handled")
	if (field("hits") != field("handled") + field("nest_skips")) odd++ }
END { print handled - done, "missing,", odd + 0, "rows odd,",
	(done > 20000 ? "many" : "few") }' "$TMP/out"

# No kernel has this event; a handler asks whether the counter is there.
set +e
exec 2>&1
tally -c 'work-faults 2 1 1' -e '
probe perf.type(1).config(99).counter("none")? {}
probe perf.sw.page_faults.counter("faults")? {}
function none() { return @defined(@perf("none")) ? @perf("none") : -1 }
global n
probe process("work-faults").function("work_report") {
	if (!n++) println(none(), " ", @perf("faults") > 0)
}' >"$TMP/out" 2>&1
status=$?
# Some machines hide threads now and then: kernel/perf-counter.
grep -v 'perf counters: [0-9]* times' "$TMP/out"
echo "status $status"
tally -p2 -e '
probe perf.type(1).config(99).counter("none")? {}
probe process("work-faults").function("work_report") {
	println(@perf("none"))
}'
exit 0

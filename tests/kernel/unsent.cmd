# A full event buffer: what a handler handed over to tally in vain is called
# that, and counted; --format=json has the times of -t.
# Nobody reads until the work is done.
cd "$TMP"
mkfifo fifo
try() {
	rm -f done
	(until [ -e done ]; do sleep 0.1; done; cat) <fifo >out &
	tally -t --format=json -s 1 -c 'work-calls getppid 50000 4; : >done' -e "
	global a, n
	probe begin { a[1] = 2 }
	probe kernel.trace(\"sys_enter\") {
		if (ppid() != target() || \$id != 110) next
		$1
	}" >fifo 2>err
	wait
	sed -n '/^WARNING/s/[0-9][0-9]*/N/gp' err
	python3 - out "$2" <<-'END'
	import json, sys
	lines = [json.loads(line) for line in open(sys.argv[1])]
	text = ''.join(l['text'] for l in lines if l['type'] == 'text')
	p, times = lines[-1]['ledger'][0], lines[-1]['times']
	print(p['ring_full'] > 0, not sys.argv[2] or
	      text.count(sys.argv[2]) + p['ring_full'] == 200000)
	t = [t for t in times if t['probe'] == p['probe']]
	print(len(t), t[0]['count'] == p['handled'],
	      0 < t[0]['min_ns'] <= t[0]['avg_ns'] <= t[0]['max_ns'],
	      any(t['probe'] == 'begin' and t['count'] == 1 for t in times))
	END
}
# The rest prints; nothing is printed before it.
try 'foreach (k in a) println("rest of what is done in tally ", k)' rest
# Both: a print, and a rest that prints.
try 'printf("%s\n", execname()) foreach (k in a) n++' ''

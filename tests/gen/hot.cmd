# An element of an array of aggregates: the hot entry of the key, and behind it
# what happens when another key is there. How many rows there are is the
# machine's matter, and where a word of CONTROL is that of the whole project.
tally --dump=bpf -e 'global a
probe kernel.trace("sys_enter") { a[pid(), "x"] <<< 1 }
probe end { foreach ([p, s] in a) print(@count(a[p, s])) }' |
	sed -n '/^probe 0/,/^# probe 1/p' | sed 's/: r0 &= [0-9]*$/: r0 \&= N/
		s/value +[1-9][0-9]*\(.*control\)/value +N\1/'

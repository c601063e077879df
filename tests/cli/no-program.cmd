# A process that is there but runs no program is told from none at all.
sh -c 'sleep 0.2 & echo $! >"$1"; exec sleep 1000' sh "$TMP/pid" &
until [ -s "$TMP/pid" ]; do sleep 0.05; done
ended=$(cat "$TMP/pid")
until grep -q '^State:.*zombie' /proc/$ended/status; do sleep 0.05; done
set +e
{
	tally -p2 -e "probe process($ended).function(\"main\") { exit() }"
	tally -p2 -x $ended -e 'probe process.function("main") { exit() }'
	tally -p2 -e 'probe process(99999999).function("main") { exit() }'
	tally -p2 -x 99999999 -e 'probe process.plt { exit() }'
} 2>&1 | sed -n "s/process $ended/process PID/; /^note/p"
kill $!

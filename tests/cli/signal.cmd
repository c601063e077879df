# The first signal ends in order; a second quits.
set +e
exec 2>&1
tally -e 'probe begin { println("begin") system(sprintf("kill -INT %d", pid())) }
probe end { println("end") }'
echo "status $?"
tally -e 'probe timer.ms(5) { if (n++ == 5) system(sprintf("kill %d", pid())) } global n
probe end { println(n > 5) }'
echo "status $?"
cd "$TMP"
tally -g --suppress-time-limits -e 'global n
probe begin { system(": >begun") }
probe end { println("endless") system(": >ending") while (1) n++ }' &
until [ -e begun ]; do sleep 0.1; done
kill -TERM $!
until [ -e ending ]; do sleep 0.1; done
kill -TERM $!
wait $! 2>/dev/null
echo "status $?"
exit 0

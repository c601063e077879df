# The first signal ends in order; a second quits.
set +e
exec 2>&1
tally -e 'probe begin { println("begin") system(sprintf("kill -INT %d", pid())) }
probe end { println("end") }'
echo "status $?"
tally -e 'probe timer.ms(5) { if (n++ == 5) system(sprintf("kill %d", pid())) } global n
probe end { println(n > 5) }'
echo "status $?"
tally -g --suppress-time-limits -e 'global n probe end { println("endless") while (1) n++ }' &
sleep 0.6
kill -TERM $!
sleep 0.6
kill -TERM $!
wait $! 2>/dev/null
echo "status $?"
exit 0

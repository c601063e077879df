# The first signal ends in order; a second quits.
set +e
exec 2>&1
tally -e 'probe begin { println("begin") } probe end { println("end") }' &
sleep 0.1
kill -INT $!
wait $!
echo "status $?"
tally -e 'probe timer.ms(5) { n++ } global n probe end { println(n > 0) }' &
sleep 0.1
kill -TERM $!
wait $!
echo "status $?"
tally -g --suppress-time-limits -e 'global n probe end { println("endless") while (1) n++ }' &
sleep 0.1
kill -TERM $!
sleep 0.1
kill -TERM $!
wait $! 2>/dev/null
echo "status $?"
exit 0

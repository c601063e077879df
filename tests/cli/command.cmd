# -c: the session ends with the command, whose status counts; -x; -T.
set +e
exec 2>&1
tally -c 'exit 3' -e 'probe begin { println(target() > 0) } probe end { println("end") }'
echo "status $?"
tally -c 'kill -9 $$' -e 'probe end { println("end") }'
echo "status $?"
tally -c true -e 'probe end { println("end") }'
echo "status $?"
# Each shell has its own words for it.
tally -c /no/such/command -e 'probe end { println("end") }' >"$TMP/out" 2>&1
echo "status $?"
sed 's,^sh: .*/no/such/command: .*,sh: /no/such/command: ...,' "$TMP/out"
tally -T 0.01 -e 'probe end { println("time is up") }'
echo "status $?"
sleep 1000 &
tally -x $! -e 'probe begin { println(target() == $1) system(sprintf("kill %d", target())) }
probe end { println("gone") }' $!
echo "status $?"
tally -x 2147483647 -e 'probe begin { println("x") }'
echo "status $?"
# The command starts only when the probes are there: begin comes first.
tally -c 'echo command' -e 'probe begin { println("begin") }'
# An = in an argument and quotes need no shell: the command itself is the target.
for cmd in 'env X=1 readlink /proc/self' 'X=1 true' \
	'readlink "/proc/self"' "readlink '/proc/'self"; do
	tally -c "$cmd" -e 'probe end { println(target()) }' |
	    sort -u | wc -l
done
exit 0

# A tracepoint that is not there: where it is written, and what is near.
cat >"$TMP/a.stp" <<'END'
global n
probe kernel.trace("sched_switsh") { n <<< 1 }
probe kernel.trace("sched_switch") { n <<< 1 }
END
cd "$TMP"
set +e
tally a.stp >out 2>&1
echo "status $?"
sed 's/switch, .*)$/switch, ...)/' out
# Optional: nothing happens.
tally -e 'probe kernel.trace("sched_switsh") ?, begin { println(pn()); exit() }'

# Programs are loaded several at a time; what is said is of the first that is
# refused in the order of the script, though a later one is refused sooner.
awk 'function search(n,   i) {
         print "probe kernel.trace(\"sys_enter\") { s = user_string($id)"
         for (i = 0; i < n; i++)
             print "n += isinstr(s, \"a needle of characters " i "\")"
         print "}"
     }
     function small(n) {
         while (n-- > 0) print "probe kernel.trace(\"sys_enter\") { n++ }"
     }
     BEGIN { print "global n"; small(9); search(300); search(200); small(9) }' \
    >"$TMP/order.stp"
cd "$TMP"
set +e
tally -T 0.1 order.stp 2>&1
echo "status $?"
exit 0

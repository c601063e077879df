# Where a script comes from, and its arguments.
cat >"$TMP/a.stp" <<'END'
#!/usr/bin/env tally
probe begin { println("file ", $1, " ", @2); exit() }
END
tally "$TMP/a.stp" 5 x
tally - 6 y <"$TMP/a.stp"
tally -e 'probe begin { println("text ", @1) exit() }' -- -v
tally -e 'probe begin { println("main") }' -E 'probe begin { println("extra") exit() }'
tally -G n=7 -e 'global n = 1 probe begin { println(n) exit() }'
tally -G s=abc -e 'global s = "x" probe begin { println(s) exit() }'
tally -k -b -e 'probe begin { println("accepted") exit() }'
tally -v -k -e 'probe begin { exit() }' 2>&1 | grep note:

# Places that take no more, or are closed: a message and status 1.
set +e
exec 2>&1
tally -L 'begin' >/dev/full; echo "status $?"
tally --help >/dev/full; echo "status $?"
tally -L 'begin' >&-; echo "status $?"
tally -e 'probe begin { println("x") exit() }' >&-; echo "status $?"
tally -T 0.1 -e 'probe input.char { n++ } global n
probe end { println(n) }' <&-; echo "status $?"
tally -o $TMP/o2 -e 'probe begin { println("x") warn("w") exit() }' 2>&-
cat $TMP/o2
cat >$TMP/x.stp <<'EOF'
global a
probe begin { a <<< 1; exit() }
probe end { println(@count(a)) }
EOF
(ulimit -f 0; tally -o $TMP/o $TMP/x.stp; echo "status $?" >&3) 3>&1
(ulimit -f 0; cd $TMP; tally --snapshot=s x.stp; echo "status $?")
exit 0

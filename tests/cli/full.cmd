# Places that take no more: each ends with a message and status 1.
set +e
exec 2>&1
tally -L 'begin' >/dev/full; echo "status $?"
tally --help >/dev/full; echo "status $?"
tally -L 'begin' >&-; echo "status $?"
cat >$TMP/x.stp <<'EOF'
global a
probe begin { a <<< 1; exit() }
probe end { println(@count(a)) }
EOF
(ulimit -f 0; tally -o $TMP/o $TMP/x.stp; echo "status $?" >&3) 3>&1
(ulimit -f 0; cd $TMP; tally --snapshot=s x.stp; echo "status $?")
exit 0

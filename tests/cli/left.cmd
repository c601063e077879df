# What a killed session leaves is removed by the next; a living one's stays.
set +e
export XDG_RUNTIME_DIR=$TMP
cat >$TMP/x.stp <<'EOF'
probe procfs("x").read { $value = "x" }
probe procfs("sub/y").write { exit() }
EOF
dir_of() { # where the session has made its files
	until grep -q 'procfs files are in' $1; do sleep 0.1; done
	d=$(sed -n 's/^procfs files are in //p' $1)
}
: >$TMP/1; : >$TMP/2
tally -v $TMP/x.stp 2>$TMP/1 &
killed=$!
dir_of $TMP/1
left=$d
kill -9 $killed
wait $killed 2>/dev/null
test -p $left/x && echo "left by the killed one"
tally -v $TMP/x.stp 2>$TMP/2 &
lives=$!
dir_of $TMP/2
test -e $left || echo "removed"
tally -T 0.1 $TMP/x.stp
test -p $d/x && echo "kept of the living one"
echo >$d/sub/y
wait $lives
test -e $d || echo "gone"
exit 0

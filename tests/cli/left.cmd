# What a killed session leaves is removed by the next; a living one's stays.
set +e
export XDG_RUNTIME_DIR=$TMP
cat >$TMP/x.stp <<'EOF'
probe procfs("x").read { $value = "x" }
probe procfs("sub/y").write { exit() }
EOF
dir_of() {
	for i in $(seq 150); do
		for d in /run/tally/$1 $TMP/tally/$1; do
			test -p $d/sub/y && break 2
		done
		sleep 0.1
	done
	sleep 0.2
}
tally $TMP/x.stp &
killed=$!
dir_of $killed
left=$d
kill -9 $killed
wait $killed 2>/dev/null
test -p $left/x && echo "left by the killed one"
tally $TMP/x.stp &
lives=$!
dir_of $lives
test -e $left || echo "removed"
tally -T 0.1 $TMP/x.stp
test -p $d/x && echo "kept of the living one"
echo >$d/sub/y
wait $lives
test -e $d || echo "gone"
exit 0

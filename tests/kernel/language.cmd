# Each construct of the language does in a kernel handler what it does in the
# VM: tests/run/lang-*.stp print the same from a system call's handler. What the
# program does while the host goes on with that may be skipped.
cd ../run
for script in lang-*.stp; do
	name=${script%.stp}
	tally -c true "$script" >"$TMP/out" 2>"$TMP/all" || :
	sed '/^WARNING: Number of errors: 0, skipped/d' "$TMP/all" >"$TMP/err"
	if cmp -s "$TMP/out" "$name.out" && ! [ -s "$TMP/err" ]; then
		echo "$name: same"
	else
		echo "$name: different"
		diff "$name.out" "$TMP/out" || :
		cat "$TMP/err"
	fi
done

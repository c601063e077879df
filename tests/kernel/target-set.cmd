# The target and what it starts, processes of processes; threads are none.
tally -c 'work-calls personality 1 2; sh -c "work-calls personality 1 1"' \
	-e 'global n probe syscall.personality {
		if (target_set_pid(pid())) n <<< 1
	}
	probe end { println(@count(n), target_set_pid(1)) target_set_report() }' >"$TMP/out"
sed -n 1p "$TMP/out"
awk '/begat/ { print $1 == $3 ? "itself" : "a process" }' "$TMP/out"

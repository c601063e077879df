# -t: what the handlers get on top to take their time, and that without it they
# have nothing of it. How many rows there are is the machine's matter.
cat >"$TMP/x.stp" <<'END'
global n
probe kernel.trace("sys_enter") { if ($id == 110) next; n <<< 1 }
probe end { print(@count(n)) }
END
dump() {
	tally "$@" --dump=bpf "$TMP/x.stp" |
		sed -n '/^probe 0/,/^# probe 1/{
			s/^ *[0-9]*: //; s/^r0 &= [0-9]*$/r0 \&= N/; p; }'
}
dump >"$TMP/plain"
dump -t >"$TMP/timed"
grep -c ktime "$TMP/plain" "$TMP/timed" | sed 's,.*/,,'
diff "$TMP/plain" "$TMP/timed" || true

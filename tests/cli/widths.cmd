# -v tells the bytes chosen for the strings of globals, keys and values.
cat >"$TMP/s.stp" <<'EOF'
global seen, last, plain
probe begin {
	seen["abc", execname(), 5] = "x" . "y"
	last = sprint(5)
	plain[1] = 2
	println(seen["abc", "q", 5], last, plain[1])
	exit()
}
EOF
tally -v "$TMP/s.stp" 2>&1 | grep '^bytes of'

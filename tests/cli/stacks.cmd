# Stacks of simulated events: strings, keys, single addresses, lines.
cat > $TMP/events <<'EOF'
1ms kernel.trace("sys_enter") pid=999999999 stack=0x10,0x20,0xffffffffffffffff ustack=0x401000,0x7fffffffe000
+1  kernel.trace("sys_enter") pid=999999999 stack=0x10,0x20,0xffffffffffffffff ustack=0x1
+1  kernel.trace("sys_enter") pid=999999999 stack=0x30
+1  kernel.trace("sys_enter") pid=999999999
EOF
cat > $TMP/stacks.stp <<'EOF'
/* Stacks as strings, as keys, and one address at a time. Addresses that no
 * process and no kernel has are printed as they are. */
global seen, n

probe kernel.trace("sys_enter") {
	printf("[%s] [%s]\n", backtrace(), ubacktrace())
	printf("%x %x %x, %x\n", stack(0), stack(1), stack(9), ustack(1))
	seen[backtrace()] <<< 1
	n += strlen(ubacktrace())
	if (callers(2) != "")
		printf("%s / %s / %s\n", callers(1), callers(-1), ucallers(2))
	print_ubacktrace()
	printf("%s %s %s\n", usymname(ustack(0)), usymdata(ustack(0)),
	       umodname(ustack(0)))
	printf("%s", sprint_ustack(ubacktrace()))
	print_ubacktrace_brief()
}

probe end {
	foreach (s in seen)
		printf("%d %s\n", @count(seen[s]), s)
	println(n)
	/* on the host there is nothing to walk */
	printf("[%s] [%s] %d %d\n", backtrace(), ubacktrace(), stack(0),
	       ustack(0))
	print_ustack("0x10  nonsense 0x20")
	println(symfileline(4096), usymfileline(8192))
}
EOF
tally --events $TMP/events $TMP/stacks.stp

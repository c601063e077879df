# --strict: errors that are neither printed nor fatal are a loss; samples that an
# array has no element for are not, they are in its other cell.
cat >$TMP/events <<'END'
1ms kernel.trace("sys_enter") pid=1 args=0,0
2ms kernel.trace("sys_enter") pid=2 args=0,1
END
try() {
	status=0
	tally --strict --events=$TMP/events "$@" 2>/dev/null || status=$?
	echo "status $status"
}
try -e 'global s probe kernel.trace("sys_enter") { s <<< 12 / ($id + 1) }
	probe end { println(@count(s)) }'
try --suppress-handler-errors -e 'global s
	probe kernel.trace("sys_enter") { s <<< 12 / $id }
	probe end { println(@count(s)) }'
try -e 'global s[1] probe kernel.trace("sys_enter") { s[pid()] <<< 1 }
	probe end { foreach (p in s) println(p, " ", @count(s[p])) }'

# Text that only the host can make (quoted, or what depends on it) is stored at
# each entry and there at the return, which comes microseconds later: entry and
# return take their turns on the host in the order of the events. So does the
# time that is stored beside it.
files=
i=0
while [ $i -lt 200 ]; do
	files="$files /nonexistent/$i"
	i=$((i + 1))
done
tally -w -c "cat $files" -e '
global what, began, marked, rest
probe syscall.open ?, syscall.openat {
	if (pid() != target()) next
	what[tid()] = string_quoted(filename)
	began[tid()] = gettimeofday_ns()
	if (isinstr(what[tid()], "nonexistent/1")) marked[tid()] = 1
}
probe syscall.open.return ?, syscall.openat.return {
	if (pid() != target()) next
	t = began[tid()]
	if (isinstr(what[tid()], "nonexistent"))
		printf("%s %d %d %d\n", what[tid()], retval, marked[tid()],
		       t > 0 && gettimeofday_ns() >= t)
	delete marked[tid()]
	delete what[tid()]
	delete began[tid()]
}
# Not of the text: stays in the kernel.
probe syscall.close { rest++ }
probe end { println(rest > 0) }' 2>"$TMP/err" >"$TMP/out" || :
i=0
while [ $i -lt 200 ]; do
	case $i in 1*) mark=1 ;; *) mark=0 ;; esac
	echo "\"/nonexistent/$i\" -2 $mark 1"
	i=$((i + 1))
done >"$TMP/want"
echo 1 >>"$TMP/want"
cmp "$TMP/out" "$TMP/want" && echo "all 200 as they were"
grep -v "nonexistent\|Child process" "$TMP/err" || :

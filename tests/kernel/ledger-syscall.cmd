# -t of a handler that another program jumps to: the kernel counts only that one.
tally -t -c "work-calls getppid 1000 2" -e '
global n
probe syscall.getppid { if (pid() == target()) n <<< 1 }
probe end { println(@count(n)) }' 2>"$TMP/err"
grep -c 'syscall.getppid, .*handled: ' "$TMP/err"
grep -c 'contradict' "$TMP/err" || true

# Without tracefs nothing is found by a wildcard: what is missing is said. What
# the parameters of a call are called is not known then; there are registers.
exec 2>&1
unshare -m sh -c '
umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
tally -l "kernel.trace(\"sched_*\")"
echo "status $?"
tally --dump=ir -e "probe syscall.close { println(\$\$parms) }" |
	grep -o "arg1=%#x arg2=%#x .* arg6=%#x"'
exit 0

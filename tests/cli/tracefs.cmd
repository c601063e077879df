# Without tracefs nothing is found by a wildcard: what is missing is said.
exec 2>&1
unshare -m sh -c '
umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
tally -l "kernel.trace(\"sched_*\")"
echo "status $?"'
exit 0

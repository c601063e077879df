# Without tracefs nothing is found by a wildcard: what is missing is said. What
# the parameters of a call are called is not known then; there are registers.
exec 2>&1
unshare -m sh -c '
umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
tally -l "kernel.trace(\"sched_*\")"
echo "status $?"
tally --dump=ir -e "probe syscall.close { println(\$\$parms) }" |
	grep -o "arg1=%#x arg2=%#x .* arg6=%#x"'
# Where it is mounted for root only, who is not root is told that, and not that
# it is not mounted.
chmod 711 "$TMP"
cp "$BUILD/tally" "$TMP/tally"
unshare -m sh -c '
umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
mount -t tmpfs -o mode=700 none /sys/kernel/tracing
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	"$0" -l "kernel.trace(\"sched_*\")"
echo "status $?"' "$TMP/tally"
exit 0

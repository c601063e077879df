# The limit of a control group, or of one around it, counts where it is less than
# what the machine has; -DMEMORY_MIB stands.
unshare -m sh -euc '
mount -t tmpfs none /sys/fs/cgroup
mkdir /sys/fs/cgroup/memory
try() {
	echo $1 >/sys/fs/cgroup/memory.max
	echo $1 >/sys/fs/cgroup/memory/memory.limit_in_bytes
	shift
	tally -p4 "$@" 2>&1 >/dev/null | sed "s/need [0-9]*/need N/
		/^ /d; /^help/d"
	echo end
}
big="global s[100000] probe kernel.trace(\"sys_enter\") { s[pid()] <<< 1 }"
try max -e "$big"
try 9223372036854771712 -e "$big"
try 9000000 -e "$big"
try 9000000 -DMEMORY_MIB=1000 -e "$big"
'

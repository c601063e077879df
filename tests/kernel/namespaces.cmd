# Ids as namespaces have them. First where tally itself is in one for processes,
# then those of another process, whose users are mapped: by one range, by more
# than the map itself holds, by none.
# The program has a name that no other has.
cp "$(command -v work-calls)" "$TMP/own-calls"
unshare -pf tally -c "$TMP/own-calls personality 1 1" -e '
probe syscall.personality {
	if (execname() != "own-calls") next
	t = task_current()
	println(ns_pid() != pid(), ns_pid() == target(),
		task_ns_pid(t) == ns_pid(), task_ns_tid(t) == ns_tid(),
		ns_tid() > 0, " ", ns_ppid(), " ", task_ns_pid(task_parent()),
		" ", ns_pgrp(), " ", ns_sid())
}'
# There pid() is no number of that namespace, which is told.
unshare -pf --mount-proc tally -c 'work-calls personality 1 1' -e '
probe syscall.personality { if (pid() == target()) println("never") }' 2>&1
tally -c 'work-calls personality 1 1' -e '
probe syscall.personality {
	if (pid() != target()) next
	t = task_current()
	println(ns_pid() == pid(), ns_tid() == tid(), ns_ppid() == ppid(),
		ns_pgrp() == pgrp(), ns_sid() == sid(), " ", ns_uid() == uid(),
		ns_euid() == euid(), ns_gid() == gid(), ns_egid() == egid(),
		" ", task_ns_uid(t) == uid(), task_ns_gid(t) == gid(),
		task_ns_euid(t) == euid(), task_ns_egid(t) == egid())
}'
mapped() {
	unshare -U sleep 1000 &
	until [ "$(readlink /proc/$!/ns/user)" != \
		"$(readlink /proc/self/ns/user)" ]; do :; done
	printf "$1" >/proc/$!/uid_map
	printf "$2" >/proc/$!/gid_map
	tally --target-namespaces=$! -c 'work-calls personality 1 1' -e '
	probe syscall.personality {
		if (pid() != target()) next
		println(ns_uid(), " ", ns_euid(), " ", ns_gid(), " ", ns_egid())
	}'
	kill $!
}
mapped '1234 0 1\n' '70 5 1\n77 0 1\n'
mapped '1 11 1\n2 21 1\n3 31 1\n4 41 1\n5 51 1\n600 0 1\n' '7 5 3\n'
tally --target-namespaces=2147483647 -e 'probe begin { println(ns_pid()) }' 2>&1 |
	sed -n 's/ near.*//p'

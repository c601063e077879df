# A probed function that a handler calls: the kprobe layer does not run a
# handler inside another one. It counts that, and since 6.7 tells.
tally -w --format=json -c 'work-calls getppid 2000 1' -e '
global by
probe kernel.function("__x64_sys_getppid") {
	if (pid() == target()) by[uid()] <<< 1
}
probe kernel.function("bpf_get_current_uid_gid") { by[-1] <<< 1 }
probe end { println(@count(by[0]), " ", @count(by[-1])) }' \
    >"$TMP/out"
# No Python here: the two rows of the ledger, in the order of the probes.
tr '{' '\n' <"$TMP/out" | sed -n '
	s/.*"text":"\([0-9 ]*\).*/handled \1/p
	s/.*current_uid_gid.*"hits":\([0-9]*\),.*"misses":\([0-9]*\),.*/\1 hits, \2 misses/p
	s/.*getppid.*"hits":\([0-9]*\),.*"misses":\([0-9]*\),.*/\1 hits, \2 misses/p' |
    case $(uname -r) in
    # Older kernels do not tell.
    6.[0-6].*) sed '3s/ 0 misses/ 2000 misses/' ;;
    *) cat ;;
    esac

# Lines in the kernel's trace and log, from the host and from a kernel handler.
# printk() changes what is not tally's own: it wants -g. Both keep the lines of
# earlier runs: those of this one have a mark of their own.
mark="mark $(cat /proc/sys/kernel/random/uuid)"
tally -g -c "work-calls personality 1 1" -e '
    global n
    probe begin { ftrace(@1 . " begin") }
    probe syscall.personality {
        if (pid() == target()) {
            ftrace(sprintf("%s at %d", @1, n++))
            printk(6, @1)
        }
    }' "$mark"
sed -n "s/.*tracing_mark_write: $mark //p" /sys/kernel/tracing/trace
dmesg | sed -n "s/.*$mark\$/log/p"

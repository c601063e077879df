# Lines in the kernel's trace and log, from the host and from a kernel handler.
# printk() changes what is not tally's own: it wants -g.
timeout 60 tally -g -c "work-calls personality 1 1" -e '
    global n
    probe begin { ftrace("mark of " . sprint(stp_pid()) . " begin") }
    probe syscall.personality {
        if (pid() == target()) {
            ftrace(sprintf("mark of %d at %d", stp_pid(), n++))
            printk(6, sprintf("mark of %d", stp_pid()))
        }
    }
    probe end { println(stp_pid()) }' >$TMP/pid
pid=$(cat $TMP/pid)
sed -n "s/.*tracing_mark_write: mark of $pid //p" /sys/kernel/tracing/trace
dmesg 2>/dev/null | tail -50 | sed -n "s/.*\(mark of\) $pid\$/log: \1/p"

# A breakpoint in a process that runs already, wherever it was loaded; how many
# are left, and what cannot be watched.
mkfifo $TMP/go
exec 8<>$TMP/go
work-watch-pie 50 wait <$TMP/go &
pid=$!
while [ "$(cat /proc/$pid/comm)" != work-watch-pie ]; do sleep 0.1; done
tally -x $pid -e '
    global writes, started
    probe timer.ms(100) { if (!started++) system("echo >'$TMP'/go") }
    probe process.data("counter").write {
        if (++writes == 100) {
            println(writes, " ", usymname(addr()), " ", probe_type())
            exit()
        }
    }'
echo >&8
wait $pid
tally -c "work-watch 5" -e '
    probe process.data("counter").write, process.data("counter").rw,
          process.data("pair").length(8).write, process.data("pair").length(4).rw,
          process.data("pair").length(2).rw { println("never") }' 2>&1 | head -3

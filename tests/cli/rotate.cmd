# -S: a new file each MiB, the oldest ones removed; SIGUSR2 starts one too.
tally -o "$TMP/f" -S 1,2 -DMAXACTION=100000 -e 'probe begin {
	s = sprintf("%-99s", "x")
	for (i = 0; i < 40000; i++) println(s)
	exit()
}'
(cd "$TMP" && ls f*)
cat "$TMP"/f.* | wc -l | awk '{ print ($1 > 10000 && $1 < 40000) ? "some kept" : $1 }'
tally -o "$TMP/g" -e 'probe timer.ms(20) { if (!n++) println("one") } global n probe end { println("two") }' &
until grep -qs one "$TMP/g"; do sleep 0.02; done
kill -USR2 $!
while grep -qs one "$TMP/g"; do sleep 0.02; done
kill -INT $!
wait $!
cat "$TMP/g"

# A last line without an end counts: in scripts and in what input.line reads.
printf 'probe begin { println("from a pipe") exit() }' | tally -
printf 'probe begin { println("a comment at the end") exit() } # end' | tally -
printf 'probe begin { println("another") exit() } /* no end' >"$TMP/x.stp"
tally "$TMP/x.stp"
(printf 'one\ntwo'; exec 1>&-; sleep 1) |
	tally -e 'probe input.line {
		printf("[%s]\n", line)
		if (line == "two") exit()
	}'

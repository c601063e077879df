# Options before and behind the script; arguments; what -- protects.
cat >"$TMP/a.stp" <<'END'
probe begin {
	printf("%d:", argc)
	for (i = 1; i <= argc; i++)
		printf(" %s", argv[i])
	println(" ", target())
	exit()
}
END
cd "$TMP"
tally a.stp one two
tally a.stp one -x 1 two
tally a.stp -x 1 one
tally -x 1 a.stp -- -x 2
tally a.stp -- one -- two
tally -e "$(cat a.stp)" one -x 1
tally one -x 1 -e "$(cat a.stp)"
tally - one <a.stp -x 1
set +e
tally a.stp -5 2>&1 | head -1
tally a.stp --no-such 2>&1 | head -1

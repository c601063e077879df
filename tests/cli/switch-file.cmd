# switch_file(): what comes after it goes to the next file.
tally -o "$TMP/f" -S 1,3 -e 'probe begin {
	println("first"); switch_file(); println("second"); exit()
}'
(cd "$TMP" && tail -n 9 f*)
tally -e 'probe begin { println("no file"); switch_file(); exit() }'

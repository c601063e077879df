# Files of procfs probes: what is read, what is written, who may, what is left.
export XDG_RUNTIME_DIR=$TMP
cat >$TMP/x.stp <<'EOF'
global n = 5, a

probe procfs("count").read {
	$value = sprintf("n=%d\n", n++)
	$value .= "more\n"
}
probe procfs("sub/set").write {
	n = strtol($value, 10)
	print("set ", $value)
}
probe procfs("both").umask(0022).read { $value = "both " . sprint(n) . "\n" }
probe procfs("both").umask(0022).write { n = strtol($value, 10) }
probe procfs("big").read.maxsize(65536) {
	for (i = 0; i < 3000; i++)
		$value .= sprintf("line %d\n", i)
}
probe procfs("cut").read.maxsize(8) { $value = "0123456789" }
probe procfs("none").read { if (n < 0) $value = "?" }
probe procfs.read { $value = "command\n" }
probe procfs("quit").write { exit() }
probe begin {
	a["x y"] = 3
	a["z\""] = 4
	json_set_prefix("p")
	json_add_numeric_metric("n", "about n", "count")
	json_add_array("arr", "about arr")
	json_add_array_numeric_metric("arr", "a", "of each", "")
}
probe prometheus { @prometheus_dump_array1(a, "metric", "key") }
probe json_data {
	@json_output_data_start
	@json_output_numeric_value("n", 3)
	@json_output_array_numeric_value("arr", "e\"0", "a", 1)
	@json_output_array_string_value("arr", "e\"0", "b", "text")
	@json_output_array_numeric_value("arr", "e1", "a", 2)
	@json_output_array_numeric_value("arr2", "e1", "a", 2)
	@json_output_string_value("s", "x")
	@json_output_data_end
}
EOF
tally -v $TMP/x.stp >$TMP/out 2>$TMP/err &
pid=$!
until grep -qs 'procfs files are in' $TMP/err; do sleep 0.1; done
d=$(sed -n 's/^procfs files are in //p' $TMP/err)
(cd $d && find . -type p -printf '%M %P\n' | sort -k 2)
cat $d/count $d/count
echo 42 >$d/sub/set
until grep -q 'set 42' $TMP/out; do sleep 0.1; done
cat $d/both
# Who opens it is taken for a reader if it takes long to write.
until both=$(cat $d/both); [ "$both" = "both 7" ]; do
	(echo 7 >$d/both) 2>/dev/null || sleep 0.1
done
echo "$both"
wc -l <$d/big
cat $d/cut; echo
cat $d/none
cat $d/command $d/__prometheus $d/data $d/metadata
echo >$d/quit
wait $pid
echo "status $?"
test -e $d || echo gone
cat $TMP/out
grep -c "procfs files are in" $TMP/err

# Standard input, and a shell's output in between.
tally -e '
probe begin {
	println("one")
	system(sprintf("echo two; echo $((1 + 2)); kill %d", stp_pid()))
}
probe end { println("four") }' </dev/null
(sleep 0.5; printf 'ab\n'; sleep 0.2; printf 'q\nlost') | tally -e '
probe input.char { printf("<%s>", char == "\n" ? "NL" : char) }
probe input.line {
	printf("[%s]", text_str(line))
	if (line == "q\n")
		exit()
}
probe end { println() }'

# The library's own functions that name numbers and bits by a table, and show
# what it has read of a vector of strings: also of tables and texts that make
# no sense.
mkdir "$TMP/lib"
cat > "$TMP/lib/names.stp" <<'END'
function enum:string(n:long, table:string) { return __enum_text(n, table) }
function flags:string(n:long, table:string) { return __flags_text(n, table) }
function argv:string(read:string) { return __argv_text(read) }
END
cat > "$TMP/x.stp" <<'END'
probe begin
{
	println(enum(0, "A|B"), " ", enum(1, "A|B"), " ", enum(2, "A|B"), " ",
		enum(5, "A=0x4|B"), " ", enum(-1, "A=0xffffffff"), " ",
		enum(3, ""), " ", enum(1, "=/|=="))
	println(flags(6, "A=1|B|C"), " ", flags(9, "A=1|B|C"), " ",
		flags(0, "A=1"), " ", flags(0, "NONE=0|A=1"), " ",
		flags(1, "NONE=0|A=1"), " ", flags(8, "ZERO=0/7|X"), " ",
		flags(3, "BOTH=3|A=1"), " ", flags(3, "A=1/"))
	println(argv(""), " ", argv("01a"), " ", argv("01a02\"b00"), " ",
		argv("02a"), " ", argv("0"), " ", argv("  "), " ",
		argv("\1ff"))
	exit()
}
END
tally -I "$TMP/lib" "$TMP/x.stp"

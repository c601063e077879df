# Debug information is there, and what would read it is not: only of a function
# that has copies that matters.
mkdir "$TMP/lib"
: >"$TMP/lib/libdw.so.1"
cd "$BUILD/tests"
export LD_LIBRARY_PATH="$TMP/lib"
tally -p2 -e 'probe process("./work-inlines").function("copied") { next }' 2>&1 | head -4
tally -p2 -e 'probe process("./work-inlines").function("copied").call { next }' 2>&1 | head -4
tally -p2 -e 'probe process("./work-bare").function("work") { next }' 2>&1 | head -4
tally -p2 -e 'probe process("./work-inlines").function("nested") { next }' 2>&1 | head -4

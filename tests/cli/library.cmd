# A library of one's own: what it and the script name does not mix.
mkdir "$TMP/lib"
cat >"$TMP/lib/own.stp" <<'STP'
probe own.tick = timer.ms(1) { count = 5; kept = count + 1 }
function twice(n) { return part(n) + part(n) }
function part(n) { return n }
STP
# The script's global wins in the script's handler, the prologue has its local.
tally -I "$TMP/lib" -e 'global count = 1
probe own.tick { count++; println(count, " ", kept); exit() }'
# Without one, the handler sees what the prologue has set.
tally -I "$TMP/lib" -e 'probe own.tick { println(++count, " ", kept); exit() }'
# A script's function takes the place of the library's, for the library too.
tally -I "$TMP/lib" -e 'function part(n) { return 10 * n }
probe begin { println(twice(2)); exit() }'

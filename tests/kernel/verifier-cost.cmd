# Handlers of many parts whose paths meet again: the kernel's verifier must not
# walk much more than their instructions, on any kernel, or start takes seconds
# and long handlers are refused (docs/design/verifier.md).
cat >"$TMP/parts" <<'END'
40 try { n += kernel_long($id + @) } catch { n = @ }
40 try { s~ = user_string($id + @) } catch { s~ = "bad" }
10 try { n += kernel_long($id + @) } catch (m) { s~ .= substr(m, 0, 10) }
40 n += kernel_long($id + @)
40 if ($id & 1 << @) n = @; else n += $id
24 s~ = ($id == @ ? "a@" : sprintf("%d", $id))
40 f~ = $id == @; if (f~) n += @
40 if ($id & 1 << @) s0 .= "|F@"
20 s~ = user_string_n($id + @, 200)
20 s0 .= sprintf("%d,%x", $id, n)
10 s~ = user_string_quoted($id + @); if (s~ == "x") n++
10 for (i = 0; i < n; i++) { if (i == $id) break; s~ = sprint(i) }
END
# Each line so many times; @ is the number of the time, ~ one of four.
awk '{ times = $1; sub(/^[0-9]+ /, "")
       print "probe kernel.trace(\"sys_enter\") {"
       print "  if (pid() != target()) next"
       for (i = 0; i < times; i++) {
           line = $0
           gsub(/@/, i, line); gsub(/~/, i % 4, line)
           print "  " line
       }
       print "  printf(\"%d %s %s %s %s\\n\", n, s0, s1, s2, s3)\n}" }
     END { print "probe timer.ms(1) { exit() }" }' "$TMP/parts" >"$TMP/x.stp"
tally -vv -w "$TMP/x.stp" 2>"$TMP/err" >/dev/null || cat "$TMP/err"
sed -n 's/.*: \([0-9]*\) instructions, \([0-9]*\) walked.*/\1 \2/p' \
    "$TMP/err" |
    awk '{ n++; if ($2 > 8 * $1) print "part", n ":", $1, "cost", $2 }
         END { print n + 0, "handlers" }'
# The turns of a loop must not wait for each other: the verifier gives up when
# 8,192 jumps do, and each search through a string can have 512.
awk 'BEGIN { print "probe kernel.trace(\"sys_enter\") {"
             print "if (pid() != target()) next; s = user_string($id)"
             for (i = 0; i < 40; i++) print "n += isinstr(s, \"no" i "\")"
             print "printf(\"%d\", n) } probe timer.ms(1) { exit() }" }' \
    >"$TMP/y.stp"
tally -w "$TMP/y.stp" >/dev/null 2>"$TMP/err" &&
    echo "40 searches" || cat "$TMP/err"
# What waits for a lock is checked once, not once for each place that takes it.
awk 'BEGIN { print "global g, h; probe kernel.trace(\"sys_enter\") {"
             print "if (pid() != target()) next"
             for (i = 0; i < 20; i++)
                 print "if ($id == " i ") { g = h + " i "; h = g * 3; next }"
             print "} probe timer.ms(1) { exit() }" }' >"$TMP/z.stp"
tally -vv -w "$TMP/z.stp" 2>"$TMP/err" >/dev/null || cat "$TMP/err"
sed -n 's/.*: \([0-9]*\) instructions, \([0-9]*\) walked.*/\1 \2/p' \
    "$TMP/err" |
    awk '{ print "20 locks" ($2 > 2 * $1 ? ": " $1 " cost " $2 : "") }'
# Neither are the digits of a number walked once for each number.
awk 'BEGIN { print "probe kernel.trace(\"sys_enter\") {"
             print "if (pid() != target()) next"
             for (i = 0; i < 30; i++)
                 print "s = sprintf(\"%d %x\", $id + " i ", $id)" \
                       "; if (s == \"" i "\") exit()"
             print "} probe timer.ms(1) { exit() }" }' >"$TMP/d.stp"
tally -vv -w "$TMP/d.stp" 2>"$TMP/err" >/dev/null || cat "$TMP/err"
sed -n 's/.*: \([0-9]*\) instructions, \([0-9]*\) walked.*/\1 \2/p' \
    "$TMP/err" |
    awk '{ print "60 numbers" ($2 > 2.2 * $1 ? ": " $1 " cost " $2 : "") }'

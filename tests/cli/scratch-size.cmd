# A scratch slot is as large as the largest handler needs: nothing for strings
# that fit the stack, and no more for strings that live one after the other.
slot() {
    tally -vv -p4 -e "$1" 2>&1 >/dev/null |
        sed -n 's/.*scratch slots of \([0-9]*\) bytes.*/\1/p'
}
string='println(user_string($id))'
none=$(slot 'probe kernel.trace("sys_enter") { println(execname()) }')
one=$(slot "probe kernel.trace(\"sys_enter\") { $string }")
three=$(slot "probe kernel.trace(\"sys_enter\") { $string $string $string }")
both=$(slot "probe kernel.trace(\"sys_enter\") { $string }
             probe kernel.trace(\"sys_exit\") { println(execname()) }")
echo "stack: $none"
[ "$one" -ge 512 ] && [ "$one" -le 1024 ] && echo "one: between 512 and 1024"
[ "$three" -eq "$one" ] && echo "three: as one" || echo "three: $three"
[ "$both" -eq "$one" ] && echo "two handlers: as the larger"

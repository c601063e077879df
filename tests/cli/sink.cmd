# What the library prepares is computed behind the tests that a handler begins
# with; what a test asks for stays in front of it. Each line: the instructions
# of a handler up to its first branch, without registers.
first() {
    tally --dump=ir -e "$1" | awk '
        /^func/ { on = /probe 0" probe kernel/ }
        on && /^  / && !/regs/ && !/^b/ {
            line = $0
            sub(/ ;.*/, "", line); gsub(/r[0-9]+/, "r", line)
            sub(/ ->.*/, "", line); sub(/^ */, "", line)
            # where this kernel has the registers of a call
            sub(/tld r, .*/, "tld r", line)
            printf "%s; ", line
            if (/ (br|breq|brne|brlt|brle|brgt|brge) / ||
                /^  (br|breq|brne|brlt|brle|brgt|brge|kld|print) /) exit
        }'
    echo
}
first 'probe syscall.close { if (pid() == 7) println(argstr) }'
first 'probe syscall.close { if (pid() != 7) next
                             if (tid() == 8) { next } println(argstr) }'
first 'probe syscall.close { if (fd == 7) println(argstr) }'
first 'global n
       probe syscall.close { if (pid() == 7) println(argstr); else n++
                             println(n) }'
first 'global n
       probe syscall.close { n++; if (pid() == 7) println(n, argstr) }'
first 'global n
       probe syscall.close { if (n++ == 7) println(argstr, n) }'
# An alias of the script: it may rely on the order.
first 'probe own = syscall.close { mine = $int1 }
       probe own { if (pid() == 7) println(mine) }'

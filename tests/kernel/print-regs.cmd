# The registers at the entry of a function: seven lines of names and numbers, of
# which register() gives the same.
tally -c "work-watch 1" -e '
    global n
    probe process("work-watch").function("work") {
        if (n++) next
        print_regs()
        printf("%016x\n%016x\n%016x\n", uaddr(), register("rdi"), register("r15"))
    }' >$TMP/out
sed 's/[0-9a-f]\{8,\}/N/g' $TMP/out
sed -n '1s/RIP: //p; 4s/.*RDI: //p; 7s/.*R15: //p' $TMP/out >$TMP/some
tail -3 $TMP/out | cmp - $TMP/some && echo same

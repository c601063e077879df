# -p and --dump stop where they should; failures name the pass.
set +e
exec 2>&1
tally -p1 -e 'probe begin { x = 1 }'; echo "status $?"
tally -p2 -e 'probe begin { println(1) }'; echo "status $?"
tally -p1 -e 'probe begin {' | grep Pass
tally -p2 -e 'probe begin { x = 1 + "" ; println(x) }' | grep Pass
tally --dump=ir -e 'probe begin { println(1) }' | grep -c .>/dev/null && echo ir
tally --dump=bpf -e 'probe begin { println(1) }' | grep -c . >/dev/null && echo bpf
exit 0

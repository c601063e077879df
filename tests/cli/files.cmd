#!/bin/sh
# Files that are no scripts, and scripts that editors have touched.
t() { rc=0; timeout 20 tally "$@" 2>&1 || rc=$?; echo "= $rc"; }
cd "$TMP" || exit
printf '\357\273\277probe begin { println("mark") exit() }\n' > mark.stp
t mark.stp
printf 'probe begin {\r\n  println("crlf")\r\n  exit()\r\n}\r\n' > crlf.stp
t crlf.stp
printf '\357\273\277' > only.stp
t only.stp
printf '\377\376p\0r\0' > wide.stp
t wide.stp
printf '\037\213\010\0' > packed.stp
t packed.stp
printf '\357\273\277probe begn { }' > wrong.stp
t wrong.stp
t /dev/zero
t /

# Why nothing is listed.
for point in 'module("no_such_module").function("f")' \
	'kernel.function("*@fs/open.c")' 'kernel.function("sys_open")' \
	'process("/no/such/file").function("f")' 'syscall.no_such_call' \
	'process("work-vars0").function("_start").return'; do
	tally -l "$point" 2>&1 || echo status $?
done
# The kernel's symbols have it, its memory has not.
tally -l 'kernel.function("start_kernel")' >/dev/null 2>&1 || echo status $?

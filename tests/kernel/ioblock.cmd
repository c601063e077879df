# What is asked of a disk is done: written past the cache, one request at a time,
# every byte is seen twice, and a request ends as the bio that it began as.
cd "$TMP"
dd if=/dev/zero of=data bs=65536 count=1 conv=fsync 2>/dev/null
tally -c "dd if=/dev/zero of=data bs=65536 count=50 conv=notrunc oflag=direct" -e '
global asked, done, began, left, same
probe ioblock.request {
	if (pid() == target() && rw && size == 65536) {
		asked <<< size
		began[bio] = size
		left[devname] <<< 1
	}
}
probe ioblock.end {
	if (began[$bio]) {
		done <<< bytes_done
		same += bio == $bio && size == bytes_done && rw && !error &&
			@count(left[devname]) > 0
		delete began[$bio]
	}
}
probe end {
	printf("asked %d, done as asked %d, errors or others %d\n",
	       @sum(asked) / 65536, @sum(done) == @sum(asked),
	       @count(done) - same)
}' 2>err || cat err

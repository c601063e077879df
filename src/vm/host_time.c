/* SPDX-License-Identifier: MIT */
/* Time as text. */
#include "vm/host.h"

#include <string.h>
#include <time.h>

/* In UTC and English: "Thu Jan  1 00:00:00 1970". */
static uint64_t ctime_of(struct vm *vm, const struct builtin_call *b)
{
	static const char day[7][4] = {"Sun", "Mon", "Tue", "Wed",
				       "Thu", "Fri", "Sat"};
	static const char month[12][4] = {"Jan", "Feb", "Mar", "Apr",
					  "May", "Jun", "Jul", "Aug",
					  "Sep", "Oct", "Nov", "Dec"};
	int64_t secs = barg_num(vm, b, 0);
	time_t t = (time_t)secs;
	struct tm tm;
	char buf[64];
	int n;

	/* The reference's range: 32-bit seconds. */
	if (secs > INT32_MAX)
		return vm_raise(vm, b->loc,
				"Time too far in the future to be converted");
	if (secs < INT32_MIN || !gmtime_r(&t, &tm))
		return vm_raise(vm, b->loc,
				"Time too far in the past to be converted");
	n = snprintf(buf, sizeof(buf), "%s %s%3d %.2d:%.2d:%.2d %d",
		     day[tm.tm_wday], month[tm.tm_mon], tm.tm_mday, tm.tm_hour,
		     tm.tm_min, tm.tm_sec, 1900 + tm.tm_year);
	return bret_str(vm, b, buf, (size_t)n);
}

/* The zone's rules at the handler's own time. */
static void local_now(struct vm *vm, struct tm *tm)
{
	struct vm_who w;
	time_t t;

	vm_whoami(vm, &w);
	t = (time_t)(w.wall_ns / 1000000000);
	memset(tm, 0, sizeof(*tm));
	tzset();
	localtime_r(&t, tm);
}

/* In local time; the format may hold anything strftime() knows. */
static uint64_t strftime_of(struct vm *vm, const struct builtin_call *b)
{
	char fmt[1024], buf[4096];
	size_t n;
	const char *s = barg_str(vm, b, 0, &n);
	time_t t = (time_t)barg_num(vm, b, 1);
	struct tm tm;

	if (n > sizeof(fmt) - 2)
		n = sizeof(fmt) - 2;
	/* A mark in front tells an empty result from one that did not fit. */
	fmt[0] = 'x';
	memcpy(fmt + 1, s, n);
	fmt[n + 1] = '\0';
	tzset();
	if (!localtime_r(&t, &tm))
		return bret_str(vm, b, "", 0);
	n = strftime(buf, sizeof(buf), fmt, &tm);
	return bret_str(vm, b, buf + 1, n ? n - 1 : 0);
}

bool builtin_time(struct vm *vm, enum builtin_id id,
		  const struct builtin_call *b, uint64_t *ret)
{
	struct tm tm;

	switch (id) {
	case BI_CTIME:
		*ret = ctime_of(vm, b);
		return true;
	case BI_STRFTIME:
		*ret = strftime_of(vm, b);
		return true;
	/* Seconds west of Greenwich, as the reference counts them. */
	case BI_TZ_GMTOFF:
		local_now(vm, &tm);
		*ret = (uint64_t)-tm.tm_gmtoff;
		return true;
	case BI_TZ_NAME:
		local_now(vm, &tm);
		*ret = bret_str(vm, b, tm.tm_zone ? tm.tm_zone : "",
				tm.tm_zone ? strlen(tm.tm_zone) : 0);
		return true;
	default:
		return false;
	}
}

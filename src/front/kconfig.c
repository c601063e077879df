/* SPDX-License-Identifier: MIT */
/* The running kernel's configuration, read when a script first asks. */
#include "front/pp.h"

#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "base/compile.h"
#include "base/map.h"

/*
 * CONFIG_NAME=value, the quotes of a string removed. "is not set" lines are
 * comments and have no value here.
 */
static void config_line(struct macros *m, char *line)
{
	char *value = strchr(line, '=');
	size_t len;

	if (strncmp(line, "CONFIG_", 7) || !value)
		return;
	*value++ = 0;
	len = strcspn(value, "\n");
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value++;
		len -= 2;
	}
	map_set(m->config, line, (void *)str_intern(m->c->str, value, len));
}

/*
 * gzopen reads plain files as well. false: there is no such file. Longer lines
 * than the buffer are no options.
 */
static bool config_file(struct macros *m, const char *path)
{
	gzFile f = gzopen(path, "rb");
	char line[4096];

	if (!f)
		return false;
	while (gzgets(f, line, sizeof(line)))
		config_line(m, line);
	gzclose(f);
	return true;
}

const char *kconfig_get(struct macros *m, const char *name)
{
	struct utsname u;
	const char *value;

	/* Without macros (a text that a pass made) there is nothing to ask. */
	if (!m)
		return "";
	if (!m->config) {
		m->config = map_new(m->c->a);
		memset(&u, 0, sizeof(u));
		uname(&u);
		if (!config_file(m, "/proc/config.gz"))
			config_file(m, arena_printf(m->c->a, "/boot/config-%s",
						    u.release));
	}
	value = map_get(m->config, name);
	return value ? value : "";
}

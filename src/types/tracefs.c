/* SPDX-License-Identifier: MIT */
#include "types/tracefs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Newer systems mount it in the first place, older ones below debugfs. A
 * directory without available_events is an empty mount point.
 */
static const char *tracefs_dir(void)
{
	static const char *const dirs[] = {"/sys/kernel/tracing",
					   "/sys/kernel/debug/tracing"};
	char path[64];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/available_events", dirs[i]);
		/*
		 * Of a user who may not look into it, whether the file is there
		 * is not known: opening it will tell, with the reason.
		 */
		if (!access(path, F_OK) || errno == EACCES)
			return dirs[i];
	}
	return NULL;
}

int tracefs_events(struct compile *c, trace_events *ret)
{
	const char *dir = tracefs_dir();
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (!dir)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/available_events", dir);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		char *colon = strchr(line, ':');
		struct trace_event e;
/* "system:name\n" */

		line[strcspn(line, "\n")] = 0;
		if (!colon)
			continue;
		*colon = 0;
		e.system = str_internz(c->str, line);
		e.name = str_internz(c->str, colon + 1);
		vec_push(c->a, ret, e);
	}
	free(line);
	fclose(f);
	return 0;
}

/* "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;" */
static bool read_field(struct compile *c, char *line, struct trace_field *ret)
{
	char *type = strstr(line, "field:"), *name;

	if (!type)
		return false;
	type += strlen("field:");
	type[strcspn(type, ";[")] = 0;
	name = strrchr(type, ' ');
	if (!name)
		return false;
	ret->name = str_internz(c->str, name + 1);
	ret->type = str_intern(c->str, type, (size_t)(name - type));
	return true;
}

int tracefs_fields(struct compile *c, const char *system, const char *event,
		   trace_fields *ret)
{
	const char *dir = tracefs_dir();
	char *line = NULL;
	size_t cap = 0;
	struct trace_field field;
	FILE *f;

	if (!dir)
		return -ENOENT;
	f = fopen(arena_printf(c->a, "%s/events/%s/%s/format", dir, system,
			       event),
		  "re");
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0)
		if (read_field(c, line, &field))
			vec_push(c->a, ret, field);
	free(line);
	fclose(f);
	return 0;
}

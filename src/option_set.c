/* SPDX-License-Identifier: MIT */
/*
 * What options with an argument to be checked set: the CALL rows. Messages are
 * in the reference's words where it has the option, so that scripts around it
 * that look for them go on working.
 */
#include "option_row.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

/* A whole number in any of C's notations; false when it is not one. */
static bool read_number(const char *s, int64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*s) && *s != '-')
		return false;
	errno = 0;
	*ret = strtoll(s, &end, 0);
	return !errno && !*end;
}

/*
 * [a-z_][a-z_0-9]* up to `stop`, in either case. stop: the end, or where the =
 * is.
 */
static bool is_name(const char *s, const char *stop)
{
	if (s == stop || isdigit((unsigned char)*s))
		return false;
	for (; s < stop; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

/*
 * The reference's words: it hands such arguments to a shell, so it checks them.
 */
static int unsafe(char opt, const char *arg, const char *pattern)
{
	return opt_wrong("ERROR: Safety pattern mismatch for -%c parameter "
			 "('%s' vs. '%s') rc=1", opt, arg, pattern);
}

/* --- one function per CALL row, in their order --------------------------- */

int opt_script(struct options *o, const char *arg)
{
	if (o->script)
		return opt_wrong("Only one script can be given on the command "
				 "line.");
	o->script = arg;
	return 0;
}

int opt_extra_script(struct options *o, const char *arg)
{
	vec_push(o->c->a, &o->extra, arg);
	return 0;
}

int opt_include_dir(struct options *o, const char *arg)
{
	vec_push(o->c->a, &o->c->set.include_dirs, arg);
	return 0;
}

int opt_define(struct options *o, const char *arg)
{
	/* What is wrong with it is in the diagnostics, printed by main. */
	return settings_define(o->c, arg) ? 0 : EXIT_USAGE;
}

int opt_global(struct options *o, const char *arg)
{
	const char *eq = strchr(arg, '=');
	struct name_value nv;
	const char *v;

	if (!eq || !is_name(arg, eq) || !eq[1])
		goto mismatch;
	for (v = eq + 1; *v; v++)
		if (!isalnum((unsigned char)*v) && !strchr("_.-", *v))
			goto mismatch;
	nv.name = arena_strndup(o->c->a, arg, eq - arg);
	nv.value = eq + 1;
	vec_push(o->c->a, &o->c->set.globals, nv);
	return 0;
mismatch:
	return unsafe('G', arg, "^[a-z_][a-z0-9_]*=[a-z0-9_.-]+$");
}

/* There is no module; a name that none could have is a mistake all the same. */
int opt_module(struct options *o, const char *arg)
{
	(void)o;
	if (!*arg || arg[strspn(arg, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return unsafe('m', arg, "^[a-z0-9_]+$");
	return 0;
}

/* -P, or the long form with a word. */
int opt_prologue(struct options *o, const char *arg)
{
	(void)o;
	if (arg && strcmp(arg, "never") && strcmp(arg, "always") &&
	    strcmp(arg, "auto"))
		return opt_wrong("Invalid argument '%s' for "
				 "--prologue-searching: never, always, auto.",
				 arg);
	return 0;
}

/*
 * What the reference is compatible with, and so what macros and keywords of an
 * older level mean.
 */
int opt_compatible(struct options *o, const char *arg)
{
	int major, minor = 0, patch, n = 0;

	/* as many parts as there are: each sets n to where it ends */
	if (sscanf(arg, "%d%n.%d%n.%d%n", &major, &n, &minor, &n, &patch,
		   &n) < 1 || arg[n])
		return opt_wrong("ERROR: Invalid version '%s' for "
				 "--compatible.",
				 arg);
	if (major > 5 || (major == 5 && minor > 6))
		return opt_wrong("ERROR: systemtap version 5.6 cannot be "
				 "compatible with future version %s", arg);
	o->c->set.compatible = arg;
	return 0;
}

int opt_command(struct options *o, const char *arg)
{
	if (o->run.cmd)
		return opt_wrong("Only one command can be given with -c.");
	if (o->run.pid)
		return opt_wrong("-c and -x both name the target: give one.");
	o->run.cmd = o->c->set.cmd = arg;
	/*
	 * Passes know it as a setting: process probes without a path are about
	 * it.
	 */
	return 0;
}

int opt_pid(struct options *o, const char *arg)
{
	int64_t pid;

	if (!read_number(arg, &pid) || pid < 1 || pid > INT32_MAX)
		return opt_wrong("Invalid target process ID number.");
	if (o->run.cmd)
		return opt_wrong("-c and -x both name the target: give one.");
	o->run.pid = o->c->set.target_pid = pid;
	return 0;
}

int opt_target_namespaces(struct options *o, const char *arg)
{
	int64_t pid;

	if (!read_number(arg, &pid) || pid < 1 || pid > INT32_MAX)
		return opt_wrong("Invalid process ID for --target-namespaces.");
	o->c->set.target_namespaces = pid;
	return 0;
}

int opt_timeout(struct options *o, const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	/* Also false for NaN. */
	if (end == arg || *end || !(s > 0) || !(s < 1e9))
		return opt_wrong("Invalid timeout interval.");
	o->run.timeout_ns = (int64_t)(s * 1e9);
	/* Less than a nanosecond is not "none". */
	if (!o->run.timeout_ns)
		o->run.timeout_ns = 1;
	return 0;
}

int opt_runtime(struct options *o, const char *arg)
{
	if (!strcmp(arg, "vm"))
		o->c->set.runtime = RUNTIME_VM;
	/*
	 * Scripts and wrappers for the reference give these; what they choose
	 * between does not exist here.
	 */
	else if (!strcmp(arg, "bpf") || !strcmp(arg, "kernel") ||
		 !strcmp(arg, "dyninst"))
		o->c->set.runtime = RUNTIME_BPF;
	else
		return opt_wrong("ERROR: '%s' is not a valid argument for "
				 "--runtime: bpf, kernel, dyninst or vm.", arg);
	return 0;
}

int opt_events(struct options *o, const char *arg)
{
	/* A simulated run is one in the VM: saying both is not needed. */
	o->run.events = arg;
	o->c->set.runtime = RUNTIME_VM;
	return 0;
}

int opt_format(struct options *o, const char *arg)
{
	static const char *const names[] = { "text", "json", "openmetrics" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(arg, names[i]))
			continue;
		o->run.format = (enum output_format)i;
		return 0;
	}
	return opt_wrong("Invalid --format value '%s': text, json or "
			 "openmetrics.",
			 arg);
}

int opt_rotate(struct options *o, const char *arg)
{
	const char *comma = strchr(arg, ',');
	char *size = arena_strndup(o->c->a, arg,
				   comma ? (size_t)(comma - arg) : strlen(arg));
	int64_t mib, files = 0;

	if (!read_number(size, &mib) || mib < 1 || mib > 1 << 30 ||
	    (comma && (!read_number(comma + 1, &files) || files < 1 ||
		       files > 1000000)))
		return opt_wrong("Invalid file size or number in -S %s.", arg);
	o->run.rotate_bytes = (uint64_t)mib << 20;
	o->run.rotate_files = (unsigned)files;
	return 0;
}

/*
 * -s is in MiB, as the reference's; the kernel wants a power of two of pages.
 */
int opt_buffer(struct options *o, const char *arg)
{
	int64_t mib;

	if (!read_number(arg, &mib) || mib < 1 || mib > 4095)
		return opt_wrong("Invalid buffer size (should be 1-4095).");
	/* The ring buffer's size is a power of two: round up. */
	o->run.ring_bytes = 1 << 20;
	while (o->run.ring_bytes < (uint64_t)mib << 20)
		o->run.ring_bytes <<= 1;
	if (o->run.ring_bytes > 1u << 30)
		o->run.ring_bytes = 1u << 30;
	return 0;
}

int opt_verbose(struct options *o, const char *arg)
{
	unsigned i;

	o->verbose++;
	for (i = 0; i < LOG_MAX; i++)
		o->c->log.level[i]++;
	return 0;
}

/* --vp 00100: a digit for each pass adds that many -v to it. */
int opt_pass_verbose(struct options *o, const char *arg)
{
	/* Passes 1 to 5; the last digit is for all that runs. */
	static const enum log_channel of_pass[][4] = {
		{ LOG_FRONT, LOG_MAX }, { LOG_SEMA, LOG_MAX },
		{ LOG_IR, LOG_MAX }, { LOG_GEN, LOG_MAX },
		{ LOG_STORE, LOG_VM, LOG_RUN, LOG_MAX },
	};
	unsigned i, j;

	if (!*arg || strlen(arg) > 5 ||
	    strspn(arg, "0123456789") != strlen(arg))
		return opt_wrong("Invalid --vp value '%s': up to five digits.",
				 arg);
	for (i = 0; arg[i]; i++)
		for (j = 0; of_pass[i][j] != LOG_MAX; j++)
			o->c->log.level[of_pass[i][j]] += arg[i] - '0';
	return 0;
}

/* --color alone is always; auto was decided from the terminal before. */
int opt_color(struct options *o, const char *arg)
{
	if (!arg || !strcmp(arg, "always"))
		o->style.color = true;
	else if (!strcmp(arg, "never"))
		o->style.color = false;
	else if (strcmp(arg, "auto"))
		return opt_wrong("Invalid argument '%s' for --color.", arg);
	return 0;
}

int opt_pass(struct options *o, const char *arg)
{
	int64_t n;

	if (!read_number(arg, &n) || n < 1 || n > 5)
		return opt_wrong("Invalid pass number (should be 1-5).");
	o->last_pass = (int)n;
	o->pass_given = true;
	return 0;
}

/* A word of a list, and what it stands for. */
struct choice {
	const char *name;
	unsigned bit;
};

/* Words with commas between, of which all must be known: their bits. False:
 * *ret_wrong is the first that is not, of *ret_n bytes. */
static bool choose(const struct choice *v, const char *arg, unsigned *ret,
		   const char **ret_wrong, int *ret_n)
{
	const struct choice *c;
	size_t n;

	for (;; arg += n + 1) {
		n = strcspn(arg, ",");
		for (c = v; c->name; c++)
			if (strlen(c->name) == n && !memcmp(c->name, arg, n))
				break;
		if (!c->name) {
			*ret_wrong = arg;
			*ret_n = (int)n;
			return false;
		}
		*ret |= c->bit;
		if (!arg[n])
			return true;
	}
}

int opt_dump(struct options *o, const char *arg)
{
	static const struct choice kinds[] = {
		{ "tokens", DUMP_TOKENS }, { "ast", DUMP_AST },
		{ "types", DUMP_TYPES }, { "ir", DUMP_IR },
		{ "bpf", DUMP_BPF }, { "plan", DUMP_PLAN },
		{ "locks", DUMP_LOCKS }, { NULL, 0 },
	};
	unsigned bits = 0;
	int n;

	if (!choose(kinds, arg, &bits, &arg, &n))
		return opt_wrong("Invalid --dump value '%.*s': tokens, ast, "
				 "types, ir, bpf, plan or locks.", n, arg);
	o->dump |= bits;
	return 0;
}

int opt_lacking(struct options *o, const char *arg)
{
	enum { LOOP = 1, EACH = 2, FETCH = 4 };
	static const struct choice kinds[] = {
		{ "loop", LOOP }, { "each", EACH }, { "fetch", FETCH },
		{ NULL, 0 },
	};
	struct lacks *l = &o->c->set.lacks;
	unsigned bits = 0;
	int n;

	if (!choose(kinds, arg, &bits, &arg, &n))
		return opt_wrong("Invalid --lacking value '%.*s': loop, each "
				 "or fetch.", n, arg);
	/* What has no callbacks cannot loop by one either. */
	l->loop |= bits & (LOOP | EACH);
	l->each |= bits & EACH;
	l->fetch |= bits & FETCH;
	return 0;
}

/*
 * The last one wins: --help --version shows the version. But of two lists half
 * the answer would be missing.
 */
static int set_job(struct options *o, enum job job, const char *arg)
{
	bool lists = job == JOB_LIST || job == JOB_LIST_VARS;

	if (lists && (o->job == JOB_LIST || o->job == JOB_LIST_VARS))
		return opt_wrong("Only one -l or -L can be given.");
	o->job = job;
	o->job_arg = arg;
	return 0;
}

int opt_list(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIST, arg);
}

int opt_list_vars(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIST_VARS, arg);
}

int opt_dump_probe_types(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_PROBE_TYPES, NULL);
}

int opt_dump_aliases(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_ALIASES, NULL);
}

int opt_dump_functions(struct options *o, const char *arg)
{
	return set_job(o, JOB_DUMP_FUNCTIONS, NULL);
}

int opt_limits(struct options *o, const char *arg)
{
	return set_job(o, JOB_LIMITS, NULL);
}

int opt_explain(struct options *o, const char *arg)
{
	return set_job(o, JOB_EXPLAIN, arg);
}

int opt_info(struct options *o, const char *arg)
{
	return set_job(o, JOB_INFO, NULL);
}

int opt_version(struct options *o, const char *arg)
{
	return set_job(o, JOB_VERSION, NULL);
}

int opt_help(struct options *o, const char *arg)
{
	return set_job(o, JOB_HELP, NULL);
}

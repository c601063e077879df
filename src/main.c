/* SPDX-License-Identifier: MIT */
/*
 * The passes in order, under the numbers the reference gives them: 1 parse,
 * 2 resolve, 3 intermediate form, 4 instructions, 5 run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compile.h"
#include "base/map.h"
#include "base/slurp.h"
#include "front/parse.h"
#include "gen/code.h"
#include "ir/ir.h"
#include "ir/plan.h"
#include "merge.h"
#include "options.h"
#include "probe/probe.h"
#include "run/feature.h"
#include "run/session.h"
#include "sema/builtin.h"
#include "sema/exclusion.h"
#include "sema/program.h"
#include "sema/tapset.h"
#include "types/tracefs.h"
#include "types/types.h"

/* What is known after each pass. NULL until its pass has run. */
struct passes {
	struct compile *c;
	struct options *o;
	struct macros *macros;
	VEC(struct file *) files; /* as many as sources were given */
	struct program *prog;
	struct ir *ir;
	struct plan *plan;
	struct gen *gen;
	struct timespec began; /* when lap() was called last */
};

/* --- sources ------------------------------------------------------------- */

/*
 * A longer script is none: yes | tally - would take all memory. 4 MiB are
 * 100,000 lines or more, which take a second to compile; of nothing but short
 * statements they take five.
 */
enum { SCRIPT_MAX = 4 << 20 };

/*
 * Named as it was given: messages show the path the user knows. NULL: the
 * message is out.
 */
static struct source *source_file(struct compile *c, const char *path)
{
	char *text = NULL;
	size_t n = 0;
	int fd, rc;

	if (!strcmp(path, "-")) {
		path = "<input>";
		fd = STDIN_FILENO;
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	rc = fd < 0 ? -errno : slurp(c->a, fd, SCRIPT_MAX, &text, &n);
	if (fd > STDIN_FILENO)
		close(fd);
	if (rc == -EFBIG) {
		fprintf(stderr, "tally: '%s' is longer than %d MiB, which is "
			"the most that a script can have\n", path,
			SCRIPT_MAX >> 20);
		return NULL;
	}
	if (rc) {
		fprintf(stderr, "tally: cannot read '%s': %s%s\n", path,
			strerror(-rc), strchr(path, '{') ?
			"; a script on the command line stands behind -e" : "");
		return NULL;
	}
	return compile_source(c, path, text, n);
}

/*
 * Main script first, then those of -E. <input>, <input1>, ... as the reference
 * names what has no file.
 */
static int read_sources(struct passes *p)
{
	struct compile *c = p->c;
	struct options *o = p->o;
	unsigned i, first = 0;

	if (o->script) {
		compile_source(c, "<input>", o->script, strlen(o->script));
		first = 1;
	} else if (o->file) {
		if (!source_file(c, o->file))
			return EXIT_FAILED;
		/* Standard input is <input> already. */
		first = !strcmp(o->file, "-");
	}
	for (i = 0; i < o->extra.n; i++)
		compile_source(c, arena_printf(c->a, "<input%u>", i + first),
			       o->extra.v[i], strlen(o->extra.v[i]));
	return 0;
}

/* --- passes -------------------------------------------------------------- */

/* Milliseconds since the last call, for -v. */
static double lap(struct passes *p)
{
	struct timespec now;
	double ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (double)(now.tv_sec - p->began.tv_sec) * 1e3 +
	     (double)(now.tv_nsec - p->began.tv_nsec) / 1e6;
	p->began = now;
	return ms;
}

/*
 * Mistakes that sema finds and the reference only when it translates: by
 * themselves they fail pass 3.
 */
static bool is_late(const struct diags *d)
{
	unsigned n = diags_errors_id(d, D_PRINT_STATS) +
		     diags_errors_id(d, D_NOT_IN_LOOP);

	return n && n == diags_errors(d);
}

/* Prints what a pass found wrong; true when it must be the last. */
static bool failed(struct passes *p, int pass)
{
	static const char *const names[] = {"", "parse", "analysis",
					    "translation"};
	struct diags *d = p->c->diag;
	/* -W: warnings count as errors, but are shown as what they are. */
	bool bad = diags_errors(d) ||
		   (p->o->style.warnings_are_errors &&
		    !p->o->style.no_warnings && diags_warnings(d));

	/* What passes printed comes before what was wrong with it. */
	fflush(stdout);
	diags_print(d, stderr, &p->o->style);
	if (bad && pass <= 2) {
		pass += pass == 2 && is_late(d);
		fprintf(stderr, "Pass %d: %s failed.  [man error::pass%d]\n",
			pass, names[pass], pass);
	}
	return bad;
}

/* --dump asks for it, among others. Dumps come in order of the passes. */
static bool shows(const struct passes *p, enum dump bit)
{
	return p->o->dump & bit;
}

/* Warns of script arguments that nothing used. */
static void check_args(struct compile *c)
{
	for (unsigned i = 0; i < c->set.args.n; i++)
		if (!c->set.args_used[i])
			complain(c, UNUSED_ARG, NULL, i + 1, i + 1);
}

/* A pass: true when the next one may run. */
static bool pass_parse(struct passes *p)
{
	struct compile *c = p->c;
	unsigned i, n = c->sources.n;

	/* Macros of the library are read when a script first uses one. */
	p->macros = tapset_macros(tapset_new(c));
	for (i = 0; i < n; i++) {
		if (shows(p, DUMP_TOKENS))
			tokens_dump(c, p->macros, c->sources.v[i], stdout);
		vec_push(c->a, &p->files,
			 parse_file(c, p->macros, c->sources.v[i],
				    c->set.guru ? PARSE_GURU : 0));
	}
	if (failed(p, 1))
		return false;
	/* Later, library files may use arguments, too. */
	if (p->o->last_pass == 1)
		check_args(c);
	for (i = 0; i < n; i++) {
		if (p->o->last_pass == 1 && !p->o->dump)
			ast_print_file(p->files.v[i], stdout);
		if (shows(p, DUMP_AST))
			ast_dump_file(p->files.v[i], stdout);
	}
	if (p->o->verbose)
		fprintf(stderr, "Pass 1: parsed user script in %.1f ms.\n",
			lap(p));
	return true;
}

/*
 * Names and types. sema_run() goes on after a mistake, to report as many as
 * there are; what it leaves must not be compiled.
 */
static bool pass_resolve(struct passes *p)
{
	struct compile *c = p->c;

	p->prog = sema_run(c, p->files.v, p->files.n);
	/* Library files that were read have counted what they use. */
	check_args(c);
	if (failed(p, 2) || !p->prog)
		return false;
	if (p->o->last_pass == 2 && !p->o->dump)
		program_print(p->prog, stdout, p->o->verbose > 0);
	if (shows(p, DUMP_TYPES))
		program_dump_types(p->prog, stdout);
	if (shows(p, DUMP_LOCKS))
		exclusion_print(p->prog, stdout);
	else if (p->o->verbose)
		exclusion_print(p->prog, stderr);
	if (p->o->verbose)
		fprintf(stderr, "Pass 2: analyzed script: %u probes, %u "
			"functions, %u globals in %.1f ms.\n",
			p->prog->probes.n, p->prog->functions.n,
			p->prog->globals.n, lap(p));
	return true;
}

/*
 * What there is to do without. Nobody asks the kernel of a script that will not
 * run in it.
 */
static void find_lacks(struct passes *p)
{
	struct lacks *l = &p->c->set.lacks;
	bool kernel = false;
	unsigned i;

	for (i = 0; i < p->prog->probes.n; i++)
		kernel |= p->prog->probes.v[i]->place == PLACE_KERNEL;
	if (kernel && p->o->last_pass == 5 &&
	    p->c->set.runtime == RUNTIME_BPF)
		feature_lacks(l);
	/* Kernels without fetching atomics run the programs of user probes with
	 * preemption off, as all others. */
	for (i = 0; l->fetch && i < p->prog->probes.n; i++)
		if (p->prog->probes.v[i]->guard == GUARD_PREEMPTIBLE)
			p->prog->probes.v[i]->guard = GUARD_SELF;
}

/* The intermediate form and the plan of all memory, by which 4 and 5 go. */
static bool pass_ir(struct passes *p)
{
	struct compile *c = p->c;

	find_lacks(p);
	p->ir = ir_build(c, p->prog);
	if (failed(p, 3))
		return false;
	/*
	 * ir_passes() decides what goes on on the host by asking what gen can
	 * do in the kernel; ir is to the left of gen, so it gets a function.
	 */
	p->ir->kernel_can = gen_kernel_can;
	ir_passes(c, p->ir);
	if (failed(p, 3))
		return false;
	p->plan = plan_make(c, p->ir, 0);
	if (failed(p, 3) || !p->plan)
		return false;
	/* -s: the plan was made with a size of its own. */
	if (p->o->run.ring_bytes) {
		p->plan->total_bytes += p->o->run.ring_bytes;
		p->plan->total_bytes -= p->plan->ring_bytes;
		p->plan->ring_bytes = (uint32_t)p->o->run.ring_bytes;
	}
	if (shows(p, DUMP_IR) || (p->o->last_pass == 3 && !p->o->dump))
		ir_print(p->ir, stdout);
	if (shows(p, DUMP_PLAN))
		plan_print(p->plan, stdout);
	else if (p->o->verbose > 1)
		plan_print(p->plan, stderr);
	if (p->o->verbose)
		fprintf(stderr, "Pass 3: made %u functions of intermediate "
			"code in %.1f ms.\n", p->ir->funcs.n, lap(p));
	return true;
}

/* Nothing is loaded up to here: -p4 shows the code of any script to anybody. */
static bool pass_gen(struct passes *p)
{
	unsigned i, total = 0;

	p->gen = gen_run(p->c, p->ir, p->plan);
	if (failed(p, 4) || !p->gen)
		return false;
	/*
	 * One code for each function and place; those that turned out unneeded
	 * are NULL.
	 */
	for (i = 0; i < p->gen->codes.n; i++) {
		const struct code *code = p->gen->codes.v[i];

		if (!code)
			continue;
		total += code->ninsns;
		if (shows(p, DUMP_BPF) ||
		    (p->o->last_pass == 4 && !p->o->dump))
			gen_dump(p->gen, code, stdout);
	}
	if (p->o->verbose)
		fprintf(stderr, "Pass 4: made %u instructions in %.1f ms.\n",
			total, lap(p));
	return true;
}

/* Its status is tally's. */
static int pass_run(struct passes *p)
{
	int rc;

	if (p->o->verbose) {
		plan_print_memory(p->plan, p->prog->probes.n, stderr);
		fputs("Pass 5: starting run.\n", stderr);
	}
	rc = session_run(p->c, p->gen, &p->o->run);
	if (p->o->verbose)
		fprintf(stderr, "Pass 5: run completed in %.1f ms.\n", lap(p));
	return rc;
}

/* The last pass that -p or --dump asks for. */
static int last_pass(const struct options *o)
{
	if (!o->dump || o->pass_given)
		return o->last_pass;
	if (o->dump & DUMP_BPF)
		return 4;
	if (o->dump & (DUMP_IR | DUMP_PLAN))
		return 3;
	return o->dump & (DUMP_TYPES | DUMP_LOCKS) ? 2 : 1;
}

/* 0, or the exit status of the first step that failed. */
static int run_script(struct passes *p)
{
	bool (*const pass[])(struct passes *) = {
		pass_parse, pass_resolve, pass_ir, pass_gen,
	};
	int i, rc, last = last_pass(p->o);

	rc = read_sources(p);
	if (rc)
		return rc;
	/*
	 * Passes look at it to know whether their result is what the user wants
	 * to see.
	 */
	p->o->last_pass = last;
	lap(p);
	for (i = 0; i < 4; i++) {
		if (!pass[i](p))
			return EXIT_FAILED;
		if (i + 1 == last)
			return EXIT_OK;
	}
	return pass_run(p);
}

/* --- lists --------------------------------------------------------------- */

/* -l and -L: the script, if there is one, is read for its aliases only. */
static int list_points(struct passes *p)
{
	trace_events events = { 0 };
	unsigned i, n, sources;

	if (read_sources(p))
		return EXIT_FAILED;
	sources = p->c->sources.n; /* the library adds its own */
	p->macros = tapset_macros(tapset_new(p->c));
	for (i = 0; i < sources; i++)
		vec_push(p->c->a, &p->files,
			 parse_file(p->c, p->macros, p->c->sources.v[i], 0));
	if (failed(p, 1))
		return EXIT_FAILED;
	n = sema_list(p->c, p->files.v, p->files.n, p->o->job_arg,
		      p->o->job == JOB_LIST_VARS, stdout);
	if (failed(p, 2))
		return EXIT_FAILED;
	/* As in the reference, nothing found is a failure; ours says so. */
	if (!n)
		fprintf(stderr, "tally: no probe point matches '%s'; the kinds "
			"of them: tally --dump-probe-types\n",
			p->o->job_arg);
	/* Then there may well be some: nobody could be asked. */
	if (!n && strstr(p->o->job_arg, "trace") &&
	    tracefs_events(p->c, &events) == -ENOENT)
		fputs("help: tracepoints are listed in tracefs: mount -t "
		      "tracefs nodev /sys/kernel/tracing\n", stderr);
	return n ? EXIT_OK : EXIT_FAILED;
}

/* Prints each name once; ctx: the names seen. */
static void print_name(void *ctx, const char *name)
{
	if (map_has(ctx, name))
		return;
	map_set(ctx, name, ctx);
	puts(name);
}

/* As the reference's list has it: "unknown" is also "none". */
static const char *type_word(enum type t)
{
	return t == TY_LONG ? "long" : t == TY_STRING ? "string" : "unknown";
}

/* Built-in functions with their types, then the library's names. */
static void list_functions(struct compile *c)
{
	unsigned id, i;

	for (id = 0; id < BI_MAX; id++) {
		const struct builtin *b = builtin_at(id);

		if (b->flags & BF_INTERNAL)
			continue;
		printf("%s:%s (", b->name, type_word(builtin_type(b)));
		for (i = 0; i < builtin_nargs(b); i++)
			printf("%s%s", i ? ", " : "",
			       type_word(builtin_arg(b, i)));
		printf(")  %s\n", b->doc);
	}
	tapset_names(tapset_new(c), TAPSET_FUNCTION, print_name, map_new(c->a));
}

/*
 * What --explain says, also after a mistake's name was copied from a message.
 */
static int explain(const char *name)
{
	int id;

	for (id = 0; id < D_MAX; id++) {
		if (strcmp(diag_name(id), name))
			continue;
		printf("%s: %s\n", name, diag_explain(id));
		return EXIT_OK;
	}
	fprintf(stderr, "tally: there is no message '%s'\n", name);
	return EXIT_FAILED;
}

/* The exit status of what the options ask for; one job only, the last. */
static int do_job(struct passes *p)
{
	switch (p->o->job) {
	case JOB_SCRIPT:
		return run_script(p);
	case JOB_LIST:
	case JOB_LIST_VARS:
		return list_points(p);
	case JOB_DUMP_PROBE_TYPES:
		probe_types_print(stdout);
		return EXIT_OK;
	case JOB_DUMP_FUNCTIONS:
		list_functions(p->c);
		return EXIT_OK;
	case JOB_DUMP_ALIASES:
		tapset_names(tapset_new(p->c), TAPSET_ALIAS, print_name,
			     map_new(p->c->a));
		return EXIT_OK;
	case JOB_LIMITS:
		options_limits(stdout);
		return EXIT_OK;
	case JOB_EXPLAIN:
		return explain(p->o->job_arg);
	case JOB_INFO:
		return feature_info(stdout);
	case JOB_VERSION:
		options_version(stdout);
		return EXIT_OK;
	case JOB_HELP:
		options_help(stdout);
		return EXIT_OK;
	case JOB_NOTHING:
		return EXIT_OK;
	}
	return EXIT_BUG;
}

/*
 * -o without a run: what passes and lists print goes there, in place of what
 * the script would print. 0, or the exit status after the message.
 */
static int redirect(const struct options *o)
{
	const char *path = o->run.output;

	if (!path || (o->job == JOB_SCRIPT && last_pass(o) == 5))
		return 0;
	if (freopen(path, "we", stdout))
		return 0;
	fprintf(stderr, "ERROR: cannot write '%s': %s\n", path,
		strerror(errno));
	return EXIT_FAILED;
}

/*
 * Descriptors 0 to 2 that were closed (tally ... >&-) would be given to the
 * next files and maps that are opened, and messages written to those.
 * /dev/null, open the other way round, fails as what is closed does.
 */
static void keep_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return; /* no /dev: as before */
}

/* A list that a full disk cut short must not pass for a whole one. */
static bool all_written(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	fprintf(stderr, "ERROR: cannot write the output: %s\n",
		strerror(errno));
	return false;
}

/*
 * Everything is in c's arena; what others opened (types) is closed before it.
 */
int main(int argc, char **argv)
{
	struct compile *c = compile_new();
	struct options o = { .c = c };
	struct passes p = { .c = c, .o = &o };
	unsigned i;
	int rc;

	keep_standard();
	/*
	 * Whole lines at a time. Messages of a script that runs and of tally
	 * itself must not be torn apart.
	 */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	/* A file over ulimit -f is an error of write(), with its message. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc > 1 && !strcmp(argv[1], "merge")) {
		rc = merge_main(c, argc - 1, argv + 1);
		compile_free(c);
		return rc;
	}
	o.style.color = isatty(STDERR_FILENO);
	rc = options_parse(&o, argc, argv);
	if (!rc && o.verbose)
		for (i = 0; i < o.notes.n; i++)
			fprintf(stderr, "note: %s\n", o.notes.v[i]);
	if (!rc)
		rc = redirect(&o);
	if (!rc)
		rc = do_job(&p);
	/*
	 * Whatever was not printed by the passes: options that are wrong,
	 * notes.
	 */
	diags_print(c->diag, stderr, &o.style);
	types_close(c);
	compile_free(c);
	return all_written() ? rc : EXIT_FAILED;
}

/* SPDX-License-Identifier: MIT */
/* front/: lexer, preprocessor and parser where golden files are clumsy. */
#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "base/compile.h"
#include "front/parse.h"
#include "front/pp.h"

/* The tokens of a text, as "text|text|"; diagnostics stay in c. */
static const char *tokens(struct compile *c, const char *text, size_t n)
{
	struct source *src = compile_source(c, "<input>", text, n);
	struct pp pp;
	struct token t;
	char *all = arena_alloc(c->a, 1);
	unsigned left = 1000;

	pp_init(&pp, c, macros_new(c), src);
	for (pp_next(&pp, &t); t.id != T_EOF && left--; pp_next(&pp, &t))
		all = arena_printf(c->a, "%s%s|", all, t.span.text);
	return all;
}

static void check_tokens(const char *text, const char *want, unsigned errors)
{
	struct compile *c = compile_new();

	vec_push(c->a, &c->set.args, "3+4");
	vec_push(c->a, &c->set.args, "say \"x\"\n");
	vec_push(c->a, &c->set.args, "$1");
	vec_push(c->a, &c->set.args, "");
	CHECK_STR(tokens(c, text, strlen(text)), want);
	CHECK_EQ(diags_errors(c->diag), errors);
	compile_free(c);
}

TEST(longest_match)
{
	check_tokens("a<<<b>>>c<<=d>>=e<<f>>g<h>=i",
		     "a|<<<|b|>>>|c|<<=|d|>>=|e|<<|f|>>|g|<|h|>=|i|", 0);
	check_tokens("a+++++b", "a|++|++|+|b|", 0);
	check_tokens("x->y.=z!~w=~v", "x|->|y|.=|z|!~|w|=~|v|", 0);
	check_tokens("1.5 0x1F 08 12abc", "1|.|5|0x1F|08|12abc|", 0);
	check_tokens("$a$b a$b $$vars$ $", "$a$b|a$b|$$vars$|$|", 0);
	check_tokens("a#b\nc//d\ne/*f*/g/*h", "a|c|e|g|", 0);
	check_tokens("@count(@foo)", "@count|(|@foo|)|", 0);
}

TEST(string_escapes)
{
	check_tokens("\"\\101\\x41\\7x\\q\\\"\\\\\"",
		     "AA\ax"
		     "q\"\\|",
		     0);
	check_tokens("\"a\\0b\" \"\"", "a||", 0);
	check_tokens("\"\\x\"", "x|", 0);
	check_tokens("\"abc\nd", "|d|", 1);
	check_tokens("\"abc\\", "|", 1);
}

TEST(arguments)
{
	check_tokens("$1x", "3|+|4x|", 0);
	check_tokens("@2x $# @#", "say \"x\"\n|x|4|4|", 0);
	check_tokens("$3", "|", 1);
	check_tokens("a$4b", "a$4b|", 0);
	check_tokens("a $4b", "a|b|", 0);
	check_tokens("$5 @9 $99999999999999999999", "|||", 3);
}

TEST(macros_and_conditionals)
{
	check_tokens("@define f(x) %( @x*2 %) @f(1+(2,3))",
		     "1|+|(|2|,|3|)|*|2|", 0);
	check_tokens("@define f(x) %( @x @g(@x) %) @define g(x) %( <@x> %)"
		     "@f(7)",
		     "7|<|7|>|", 0);
	check_tokens("@define f() %( 3 %) @f() @f ( )", "3|3|", 0);
	check_tokens("@define f %( 3 %) @f(1)", "3|(|1|)|", 0);
	check_tokens("%( 1 < 2 && \"a\" >= \"b\" || 3 == 3 %? y %: n %)", "y|",
		     0);
	check_tokens("%( 1 > 2 %? %( 1 %: 2 %) \"\n %: %( 1==1 %? a %: b %) %)",
		     "a|", 0);
	check_tokens("%( 1 == 2 %? @define f %( 1 %) %) @f", "@f|", 0);
	check_tokens("@define t %( 1 %) %( @t == 1 %? @t %)", "1|", 0);
	check_tokens("%( systemtap_v >= \"4.10\" && systemtap_v < \"5.10\" "
		     "&& systemtap_v != \"4.*\" && runtime == \"b*\" "
		     "&& guru_mode == 0 && systemtap_privilege != \"stapusr\" "
		     "%? y %)",
		     "y|", 0);
	check_tokens("%( kernel_v >= \"2.6\" && kernel_vr == \"[0-9]*\" && "
		     "CONFIG_NO_SUCH_OPTION == \"\" %? y %)",
		     "y|", 0);
}

/* What multiplies must stop by itself, in time and with a message. */
TEST(macro_bombs)
{
	struct compile *c = compile_new();
	char *s = arena_printf(c->a, "@define m0 %%( x %%)");

	for (int i = 1; i < 60; i++)
		s = arena_printf(c->a, "%s @define m%d %%( @m%d @m%d %%)", s, i,
				 i - 1, i - 1);
	s = arena_printf(c->a, "%s @m59", s);
	parse_file(c, macros_new(c), compile_source(c, "b", s, strlen(s)), 0);
	CHECK(diags_errors(c->diag) > 0);
	compile_free(c);
	check_tokens("@define f %( @f %) @f", "@f|", 1);
}

/* --- parser -------------------------------------------------------------- */

static char *repeat(const char *head, const char *unit, unsigned n,
		    const char *tail)
{
	size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
	char *s = malloc(h + u * n + t + 1), *p = s;

	memcpy(p, head, h);
	p += h;
	for (unsigned i = 0; i < n; i++, p += u)
		memcpy(p, unit, u);
	memcpy(p, tail, t + 1);
	return s;
}

static unsigned parse_errors(const char *text, size_t n)
{
	struct compile *c = compile_new();
	unsigned errors;
	struct file *f;
	FILE *null = fopen("/dev/null", "w");

	f = parse_file(c, macros_new(c), compile_source(c, "big", text, n), 0);
	ast_print_file(f, null);
	ast_dump_file(f, null);
	errors = diags_errors(c->diag);
	fclose(null);
	compile_free(c);
	return errors;
}

static void check_big(const char *head, const char *unit, unsigned n,
		      const char *tail, bool fine)
{
	char *s = repeat(head, unit, n, tail);
	unsigned errors = parse_errors(s, strlen(s));

	if (fine != !errors)
		TEST_FAIL("'%s' * %u: %u errors", unit, n, errors);
	free(s);
}

TEST(deep_nesting_is_a_message)
{
	static const char *const units[] = {
	    "(",
	    "-",
	    "!",
	    "{",
	    "if(1)",
	    "x[",
	    "f(",
	    "a=",
	    "1?",
	    "1?1:",
	    "while(1)",
	    "for(;;)",
	    "@defined(",
	    "1+",
	    "1 in ",
	    "a.",
	    "$x[",
	    "try{",
	    "foreach(a in b)",
	    "@count(",
	    "a->b[",
	    "print(",
	    "[",
	    "x<<<",
	    "1&&",
	    "&",
	    "++",
	    "1==",
	    "else ",
	    "@hist_log(",
	    "(a)->",
	};
	size_t n = sizeof(units) / sizeof(units[0]);

	for (size_t i = 0; i < n; i++)
		check_big("probe begin { ", units[i], 10000, "", false);
	check_big("probe begin { x = ", "1 + ", 10000, "1 }", false);
	check_big("probe begin { x = ", "(", 10000, "1", false);
	check_big("probe ", "{", 10000, "", false);
	check_big("probe ", "{a,b}.", 10000, "c {}", false);
	check_big("probe begin { if (x) ", "y else if (z) ", 10000, "w }",
		  false);
	check_big("probe begin { x = ", "1 + ", 500, "1 }", true);
	check_big("probe begin { ", "x = 1\n", 200000, "}", true);
	check_big("probe begin { x = ", "\"a\" ", 200000, "}", true);
	check_big("global a", ", a", 20000, "", false);
}

TEST(ten_megabytes_take_linear_time)
{
	clock_t start = clock();

	check_big("probe begin { ", "foo(a[1, \"b\"], $c->d) ", 400000, "}",
		  true);
	check_big("", "(", 10000000, "", false);
	check_big("", "\"", 10000001, "", false);
	check_big("", "%(", 5000000, "", false);
	check_big("/*", "x", 10000000, "", false);
	check_big("%{", "}", 10000000, "", false);
	check_big("", "@", 10000000, "", false);
	check_big("", "probe ", 1000000, "", false);
	CHECK((clock() - start) / CLOCKS_PER_SEC < 60);
}

TEST(bytes_that_are_no_text)
{
	unsigned char all[512];
	static const char nul[] = "probe begin\0{ }";

	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)(i * 37 + i / 256);
	CHECK(parse_errors((const char *)all, sizeof(all)) > 0);
	CHECK(parse_errors(nul, sizeof(nul) - 1) > 0);
	CHECK_EQ(parse_errors("probe begin { x = \"\xc3\xa9\" }", 24), 0);
}

TEST(texts_of_points_and_expressions)
{
	struct compile *c = compile_new();
	struct point *p;
	struct node *n;

	p = parse_point_text(c, compile_source(c, "p", "a.b(\"x\").c*?", 12));
	CHECK(p && p->parts.n == 3 && p->optional);
	n = parse_expr_text(c, compile_source(c, "e", "1 + x[2]", 8));
	CHECK(n && n->kind == N_BINARY);
	CHECK_EQ(diags_errors(c->diag), 0);
	CHECK(!parse_point_text(c, compile_source(c, "p", "a b", 3)));
	CHECK(!parse_expr_text(c, compile_source(c, "e", "1 +", 3)));
	CHECK_EQ(diags_errors(c->diag), 2);
	compile_free(c);
}

TEST(clones_share_nothing)
{
	static const char text[] =
	    "f(a[1, *], @cast(x, \"t\")->m[y]->$, printf(\"%d\", z))";
	struct compile *c = compile_new();
	struct node *n, *copy;
	char *before, *after;
	size_t len;
	FILE *f;

	n = parse_expr_text(c, compile_source(c, "e", text, sizeof(text) - 1));
	CHECK(n != NULL);
	f = open_memstream(&before, &len);
	ast_print_node(n, f);
	fclose(f);
	copy = node_clone(c->a, n);
	n->u.call.args.v[0]->u.index.keys.v[0]->u.num = 99;
	n->u.call.args.v[1]->u.target.parts.v[0].member = "changed";
	n->u.call.args.v[2]->u.print.args.v[0] = NULL;
	f = open_memstream(&after, &len);
	ast_print_node(copy, f);
	fclose(f);
	CHECK_STR(after, before);
	free(before);
	free(after);
	compile_free(c);
}

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz/gen_script.py SEED: prints a valid script, always the same for a seed.
Its begin handler works on what only the run knows, of every kind the language
has, and always ends. tools/differ --seeds runs such scripts on all machines."""

import random
import sys

NUMBERS = ['0', '1', '-1', '2', '3', '7', '10', '63', '64', '255', '4096',
           '0x7fffffff', '-0x80000000', '0xffffffff', '0x100000000',
           '0x7fffffffffffffff', '(-0x7fffffffffffffff - 1)']
STRINGS = ['', 'a', 'ab', 'abc', 'hello world', '12', '-34', '0x1f', '017',
           '  x', 'needle', 'aXbXc', 'zz\\n', 'tab\\there',
           'a string of more than thirty-two bytes']
PATTERNS = ['^a', 'b$', 'l+o', '[0-9]+', '^(ab|a)c?$', 'x|needle|z*y', '.',
            '^$', '[^a-z]', 'o w', 'a{2,3}|zz', '[[:digit:]]+|^-', '\\\\.']
GROUPS = ['(a|ab)(c|b*)', '^([a-z]+) ?(.*)$', '(?:X|b)(.)', '([0-9])?x?',
          '(l+)(o)']
LINEAR = '-20, 100, 10'
FLAGS = ['', '', '-', '0', '+', ' ', '#']


class Script:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.loops = 0        # loop variables in use
        self.no_call = False  # inside a function
        self.walked = set()   # arrays that a foreach around walks
        self.nums = ['n0', 'n1', 'n2', 'gn0', 'gn1']
        self.strs = ['s0', 's1', 'gs0']

    def pick(self, *choices):
        return self.r.choice(choices)

    # --- expressions -------------------------------------------------------

    def key(self, d):
        """A number of few values, so that elements are met again."""
        return self.pick(str(self.r.randrange(4)),
                         f'({self.num(d - 1)} & 3)')

    def skey(self, d):
        return self.pick('"k"', '"other"', f'substr({self.str(d - 1)}, 0, 2)')

    def num(self, d):
        if d <= 0:
            return self.pick(self.r.choice(NUMBERS), self.r.choice(self.nums),
                             str(self.r.randrange(100)))
        return self.r.choice([
            self.num_binary, self.num_binary, self.num_compare,
            self.num_string, self.num_string, self.num_array,
            self.num_other, self.num_stat, self.num_hist, self.num_call,
            self.num_text])(d)

    def num_binary(self, d):
        op = self.pick('+', '-', '*', '&', '|', '^', '<<', '>>', '>>>', '/',
                       '%', '&&', '||')
        right = self.num(d - 1)
        if op in '/%' and self.r.random() < .9:
            right = f'(({right}) | 1)'
        if op == '>>>':
            op = '>>'
        return f'({self.num(d - 1)} {op} {right})'

    def num_text(self, d):
        """By way of the preprocessor, or of an assignment to an element."""
        a, b = self.num(d - 1), self.num(d - 1)
        return self.pick(f'@both({a}, {b})', f'@twice({a})', '@small',
                         f'%( {self.r.randrange(3)} == 1 %? {a} %: {b} %)',
                         f'%( "a" < "b" && 2 > 1 %? {a} %: no such text %)')

    def num_compare(self, d):
        op = self.pick('==', '!=', '<', '<=', '>', '>=')
        if self.r.random() < .5:
            return f'({self.num(d - 1)} {op} {self.num(d - 1)})'
        return f'({self.str(d - 1)} {op} {self.str(d - 1)})'

    def num_string(self, d):
        s = self.str(d - 1)
        return self.pick(
            f'strlen({s})', f'strtol({s}, {self.pick("0", "10", "16", "8")})',
            f'isinstr({s}, {self.str(d - 2)})',
            f'strpos({s}, {self.str(0)})', f'isdigit({s})',
            f'({s} {self.pick("=~", "!~")} "{self.r.choice(PATTERNS)}")',
            f'stringat({s} . "x", {self.pick("0", "0", "1", self.num(0))})')

    def num_array(self, d):
        return self.pick(f'ga[{self.key(d)}]', f'gb[{self.skey(d)}]',
                         f'({self.key(d)} in ga)',
                         f'([{self.key(d)}, {self.skey(d)}] in gc)')

    def num_other(self, d):
        var = self.r.choice([n for n in self.nums if n[0] not in 'ik'])
        return self.pick(
            f'({self.num(d - 1)} ? {self.num(d - 1)} : {self.num(d - 1)})',
            f'(!{self.num(d - 1)})', f'(~{self.num(d - 1)})',
            f'(- {self.num(d - 1)})', f'({var}++)', f'(--{var})',
            f'({var} {self.pick("=", "+=", "^=", "<<=")} {self.num(d - 1)})')

    def num_stat(self, d):
        if self.no_call:
            return self.num(0)
        op = self.pick('@count', '@sum', '@min', '@max', '@avg', '@count',
                       '@sum', '@min', '@max', '@avg', '@variance',
                       '@stddev')
        if self.r.random() < .1:
            return self.pick('@median(sq)', '@quantile(sq, 90)', '@mode(sq)',
                             '@distinct(sd)', '@variance(st, 3)')
        what = self.pick('st', f'sa[{self.key(d)}]')
        if what != 'st':
            return f'({what[3:-1]} in sa ? {op}({what}) : -9)'
        return f'{op}({what})'

    def num_hist(self, d):
        if self.no_call:
            return self.num(0)
        return self.pick(f'@hist_log(sh)[{self.r.randrange(60, 70)}]',
                         f'@hist_linear(sl, {LINEAR})[{self.key(d)}]')

    def num_call(self, d):
        if self.no_call:
            return self.num(d - 1)
        if self.r.random() < .3:
            return self.pick(f'fr({self.num(d - 1)} & 7)',
                             f'fo({self.num(d - 1)})',
                             f'fl({self.num(d - 1)})',
                             f'even({self.num(0)} & 15)')
        return f'fn({self.num(d - 1)}, {self.num(d - 1)})'

    def str(self, d):
        if d <= 0:
            return self.pick(f'"{self.r.choice(STRINGS)}"',
                             self.r.choice(self.strs))
        return self.r.choice([
            lambda: f'({self.str(d - 1)} . {self.str(d - 1)})',
            lambda: f'substr({self.str(d - 1)}, {self.num(0)}, '
                    f'{self.num(0)})',
            lambda: f'substr({self.str(d - 1)}, {self.r.randrange(4)}, '
                    f'{self.r.randrange(9)})',
            lambda: f'({self.num(d - 1)} ? {self.str(d - 1)} : '
                    f'{self.str(d - 1)})',
            lambda: self.sprintf(d), lambda: self.sprintf(d),
            lambda: f'gc[{self.key(d)}, {self.skey(d)}]',
            lambda: f'sprint({self.num(d - 1)}, {self.str(d - 1)})',
            lambda: f'sprintd("/", {self.num(d - 1)}, {self.str(d - 1)})',
            lambda: f'sprintln({self.str(d - 1)})',
            lambda: f'ge[{self.skey(d)}]',
            lambda: self.host_str(d),
            lambda: self.str(0) if self.no_call else
            f'fs({self.str(d - 1)}, {self.num(d - 1)})'])()

    def host_str(self, d):
        if self.r.random() < .7:
            return self.str(d - 1)
        return self.pick(f'str_replace({self.str(d - 1)}, "a", "<>")',
                         f'text_str({self.str(d - 1)})',
                         f'string_quoted({self.str(d - 1)})',
                         f'text_strn({self.str(d - 1)}, 20, '
                         f'{self.r.randrange(2)})',
                         f'ctime({self.num(0)} & 0xffffffff)')

    def conversions(self, d):
        text, args = '', []
        for _ in range(self.r.randrange(1, 4)):
            conv = self.r.choice('ddisxuXocpb')
            flag = self.r.choice(FLAGS)
            if conv == 's' and flag not in ('', '-') or \
                    conv == 'c' and flag == '#':
                flag = ''
            width = self.pick('', '', '5', '12', '24')
            prec = self.pick('', '', '', '.3', '.10')
            if conv in 'c':
                prec = ''
            if conv == 'b':  # raw bytes: 1, 2, 4 or 8
                flag, width, prec = '', self.pick('', '1', '2', '4', '8'), ''
                args.append(f'(0x4142434445464748 + {self.num(0)} % 8)')
                text += f'%{width}b'
                continue
            if width and self.r.random() < .2:
                args.append(f'({self.num(0)} & 31)')
                width = '*'
            if prec and self.r.random() < .2:
                args.append(f'({self.num(0)} & 15)')
                prec = '.*'
            if conv in 'dxu' and self.r.random() < .1:
                conv = 'l' + conv
            text += f'{self.pick("", "<", ", ")}%{flag}{width}{prec}{conv}'
            args.append(self.str(d - 1) if conv == 's' else
                        f'(65 + {self.num(0)} % 26)' if conv == 'c' else
                        self.num(d - 1))
        return f'"{text}>"', args

    def sprintf(self, d):
        fmt, args = self.conversions(d)
        return f'sprintf({", ".join([fmt] + args)})'

    # --- statements --------------------------------------------------------

    def block(self, depth, pad):
        lines = []
        for _ in range(self.r.randrange(1, 4)):
            lines += self.statement(depth, pad + '\t')
        return [pad + '{'] + lines + [pad + '}']

    def statement(self, depth, pad):
        kinds = [self.assign, self.assign, self.show, self.show, self.array,
                 self.array, self.feed, self.matches]
        if depth > 0:
            kinds += [self.branch, self.loop, self.guard, self.walk,
                      self.tokens, self.buckets]
        return self.r.choice(kinds)(depth, pad)

    def assign(self, depth, pad):
        if self.r.random() < .5:
            var = self.pick('n0', 'n1', 'n2', 'gn0', 'gn1')
            op = self.pick('=', '=', '+=', '-=', '*=', '|=', '&=', '^=',
                           '<<=', '>>=')
            if self.r.random() < .05:
                return [f'{pad}delete {self.pick("gn0", "gn1", "n2")}']
            return [f'{pad}{var} {op} {self.num(2)}']
        var = self.pick('s0', 's1', 'gs0')
        return [f'{pad}{var} {self.pick("=", "=", ".=")} {self.str(2)}']

    def show(self, depth, pad):
        if self.r.random() < .5:
            fmt, args = self.conversions(2)
            fmt = fmt[:-1] + '\\n"'
            return [f'{pad}printf({", ".join([fmt] + args)})']
        if self.r.random() < .3:
            a, b = self.num(1), self.str(1)
            return [pad + self.pick(
                f'print({a}, {b})', f'printd("-", {a}, {b}, {a})',
                f'printdln(", ", {b}, {a})', 'println()', ';', '{ }',
                f'print_char(65 + ({a} & 15))', f'log({b})')]
        return [f'{pad}println({self.num(2)}, " ", {self.str(1)})']

    def array(self, depth, pad):
        lines = [('ga', f'ga[{self.key(1)}] {self.pick("=", "+=", "=")} '
                        f'{self.num(2)}'),
                 ('gb', f'gb[{self.skey(1)}]++'),
                 ('gb', f'gb[{self.skey(1)}] += {self.num(1)}'),
                 ('gc', f'gc[{self.key(1)}, {self.skey(1)}] = {self.str(1)}'),
                 ('gc', f'gc[{self.key(1)}, {self.skey(1)}] .= {self.str(0)}'),
                 ('ge', f'ge[{self.skey(1)}] {self.pick("=", ".=")} '
                        f'{self.str(1)}'),
                 ('ga', f'; --ga[{self.key(1)}]'),
                 ('ga', f'n2 = ga[{self.key(1)}]++'),
                 ('ga', f'ga[{self.key(1)}] {self.pick("^=", "|=", "<<=")} '
                        f'{self.num(1)}'),
                 ('gw', f'gw[{self.num(1)}] = {self.num(1)}'),
                 ('ga', f'delete ga[{self.key(1)}]')]
        if self.r.random() < .1:
            lines += [('gb', 'delete gb'),
                      ('gc', f'delete gc[{self.key(0)}, *]'),
                      ('gc', f'delete gc[*, {self.skey(0)}]'),
                      ('sa', f'delete sa[{self.key(0)}]')]
        name, line = self.r.choice(lines)
        if self.walked:
            return [f'{pad}n2 += {self.num(1)}']
        return [pad + line]

    def feed(self, depth, pad):
        if self.walked:
            return [f'{pad}n1 ^= {self.num(1)}']
        what = self.pick('st', 'sh', 'sl', 'sq', 'sd', f'sa[{self.key(1)}]',
                         f'sa[{self.key(1)}]',
                         f'sb[{self.key(1)}, {self.skey(1)}]')
        if self.r.random() < .1:
            return [f'{pad}n1 += {what} <<< {self.num(1)}']
        return [f'{pad}{what} <<< {self.num(1)}']

    def matches(self, depth, pad):
        s = self.str(1)
        return [f'{pad}if ({s} =~ "{self.r.choice(GROUPS)}")',
                f'{pad}\tprintln(matched({self.pick("0", "1")}), ngroups())']

    def tokens(self, depth, pad):
        return [f'{pad}for (tk = tokenize({self.str(1)}, "{self.pick(" ", "aX")}"); '
                'tk != ""; tk = tokenize("", " X"))',
                f'{pad}\tprint("<", tk, ">")']

    def buckets(self, depth, pad):
        if self.walked:
            return self.show(depth, pad)
        what = self.pick('@hist_log(sh)', f'@hist_linear(sl, {LINEAR})')
        if self.r.random() < .3:
            return [f'{pad}print({what})']
        head = self.pick(f'bk in {what}', f'bc = bk in {what}',
                         f'bc = bk in {what} limit 70')
        show = 'bc' if 'bc' in head else what + '[bk]'
        return [f'{pad}foreach ({head})', f'{pad}\tif ({show})',
                f'{pad}\t\tprint(bk, ":", {show}, " ")',
                pad + 'println()']

    def branch(self, depth, pad):
        lines = [f'{pad}if ({self.num(2)})'] + self.block(depth - 1, pad)
        if self.r.random() < .5:
            lines += [f'{pad}else'] + self.block(depth - 1, pad)
        return lines

    def loop(self, depth, pad):
        if self.loops >= 2:
            return self.show(depth, pad)
        i = f'i{self.loops}'
        self.loops += 1
        self.nums.append(i)
        most = self.r.randrange(1, 5)
        head = self.pick(
            f'for ({i} = 0; {i} < {most}; {i}++)',
            f'for ({i} = {most}; {i} > 0; {i} -= 2)',
            f'for ({i} = ({self.num(1)} & 3); {i}++ < 3; )')
        if self.r.random() < .3:
            head = f'{i} = {most} while ({i}-- > 0)'
        lines = [pad + head] + self.block(depth - 1, pad)
        if self.r.random() < .4:
            lines.insert(-1, f'{pad}\tif ({self.num(1)}) '
                             f'{self.pick("break", "continue")}')
        self.nums.remove(i)
        self.loops -= 1
        return lines

    def guard(self, depth, pad):
        lines = [f'{pad}try'] + self.block(depth - 1, pad)
        if self.r.random() < .3:
            lines.insert(-1, f'{pad}\terror({self.str(1)})')
        catch = self.pick('catch', 'catch (e)')
        lines += [f'{pad}{catch} {{', f'{pad}\tprintln("caught", '
                  + ('e' if '(e)' in catch else '""') + ')']
        return lines + [pad + '}']

    def walk(self, depth, pad):
        if self.walked:
            return self.show(depth, pad)
        if self.r.random() < .4:
            return self.walk_two(pad)
        head = self.pick('k in ga', 'k+ in ga', 'k in ga-', 'k- in ga limit 2',
                         'v = k in ga', 'k+ in sa', 'v- = k in ga',
                         'v+ = k in ga limit 3', 'k in ga+', '[k-] in ga',
                         f'k in ga limit ({self.num(1)} & 3)', 'k+ in gw',
                         'k in sa limit 0')
        self.walked.add('all')
        self.nums.append('k')
        lines = [f'{pad}foreach ({head})'] + self.block(0, pad)
        self.nums.remove('k')
        self.walked.clear()
        return lines

    def walk_two(self, pad):
        """Arrays of two keys, slices, and ties that no order settles: those
        are counted, not printed in turn."""
        op = self.pick('@count', '@sum', '@min', '@max', '@avg')
        head, show = self.pick(
            ('[k, t+] in gc', 'k, t'), ('[k-, t] in gc', 'k, t'),
            (f'[k, t] in gc[{self.key(0)}, *]', 'k, t, gc[k, t]'),
            (f'[k, t] in gc[*, {self.skey(0)}]', 'k, t'),
            ('u = [k, t] in gc', 'k, t, u'), ('u- = [k, t] in gc', 'u'),
            (f't+ in ge limit ({self.num(1)} & 3)', 't, ge[t]'),
            ('u = t in ge', 't, u'), ('t in gb-', 'gb[t]'),
            (f'k in sa {op}-', f'{op}(sa[k])'),
            (f'k in sa {op}+ limit 1', f'{op}(sa[k])'),
            ('[k+, t] in sb', 'k, @count(sb[k, t]), @sum(sb[k, t])'),
            (f'[k, t+] in sb[{self.key(0)}, *]', 'k, t'),
            (f'[k, t] in sb {op}-', f'{op}(sb[k, t])'))
        return [f'{pad}foreach ({head})', f'{pad}\tprint({show}, " ")',
                pad + 'println()']

    # --- the whole ---------------------------------------------------------

    def text(self):
        out = ['#! tally -DMAXACTION=100000 -w',
               'global gn0 = 5, gn1 = -3, gs0 = "global", ga, gb, gc, st, sa',
               'global ge, gw%[3], sb, sh, sl, sq, sd',
               '@define small %( 3 %)', '@define both(x, y) %( (@x '
               + self.pick('+', '^', '-') + ' @y) %)',
               '@define twice(x) %( @both(@x, @x) %)']
        out += self.functions()
        head = ['\tn0 = gn0', '\tn1 = gn0 * 100',
                '\tn2 = -gn0', '\ts0 = gs0', '\ts1 = ""',
                '\tga[0] = 1; ga[2] = -5; gb["k"] = 3; gc[1, "k"] = "one"',
                '\tge["k"] = "two"; gw[1] = 1; sb[1, "k"] <<< 7',
                '\tst <<< gn0', '\tsa[1] <<< 4; sa[1] <<< -4', '\tsh <<< 3',
                '\tsl <<< 42', '\tsq <<< 1000; sd <<< 1']
        if self.r.random() < .3:
            out += ['probe start = begin {'] + head + \
                ['}, { println("epilogue ", n0) }', 'probe start {']
        else:
            out += ['probe begin {'] + head
        for _ in range(self.r.randrange(3, 12)):
            out += self.statement(2, '\t')
        if self.r.random() < .1:
            out.append(f'\tif ({self.num(1)}) next')
        out += ['\tprintln(n0, " ", n1, " ", n2, " ", s0, " ", s1)',
                '\texit()', '}', 'probe last = end { seen = gn0 }',
                'probe last {',
                '\tprintln(seen, " ", gn1, " ", gs0, " ", @count(st), " ", '
                '@sum(st))',
                '\tforeach (k+ in ga) println(k, " ", ga[k])',
                '\tforeach (t+ in gb) println(t, " ", gb[t])',
                '\tforeach (t+ in ge) println(t, " ", ge[t])',
                '\tforeach (k in gw) println(k, " ", gw[k])',
                '\tforeach ([k+, t] in gc) println(k, t, gc[k, t])',
                '\tforeach (k+ in sa) println(k, " ", @count(sa[k]), " ", '
                '@sum(sa[k]), " ", @variance(sa[k]))',
                '\tforeach ([k+, t] in sb) println(k, @count(sb[k, t]))',
                '\tprint(@hist_log(sh))',
                f'\tprint(@hist_linear(sl, {LINEAR}))',
                '\tprintln(@count(sq), @median(sq), @distinct(sd))', '}']
        return '\n'.join(out) + '\n'

    def functions(self):
        """Of every kind; none but the recursive ones calls another."""
        self.no_call = True
        names = self.nums, self.strs
        self.nums, self.strs = ['a', 'b'], ['"const"']
        out = [f'function fn(a, b) {{ if (a > b) return {self.num(1)}; '
               f'return a + {self.num(1)} }}',
               f'function fo(a):2 {{ b = 3 return {self.num(1)} }}',
               'function fo(a):1 { if (a & 1) next return a / 2 }',
               'function fl(a) {', '\tfor (b = 0; b < 4; b++) {',
               f'\t\tif (({self.num(1)}) > 50) break',
               f'\t\ta += {self.num(0)}', '\t}', '\treturn a', '}',
               'function fr(a) { return a <= 0 ? 1 : '
               f'a {self.pick("+", "*", "^")} fr(a - 1) }}',
               'function even(a) { return a ? odd(a - 1) : 1 }',
               'function odd(a) { return a ? even(a - 1) : 0 }']
        self.nums, self.strs = ['a'], ['s']
        out.append(f'function fs:string(s:string, a:long) '
                   f'{{ return {self.str(1)} . s }}')
        self.nums, self.strs = names
        self.no_call = False
        return out


if __name__ == '__main__':
    print(Script(int(sys.argv[1])).text(), end='')

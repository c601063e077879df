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
            '^$', '[^a-z]', 'o w', 'a{2,3}|zz']
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
            self.num_other, self.num_stat, self.num_call])(d)

    def num_binary(self, d):
        op = self.pick('+', '-', '*', '&', '|', '^', '<<', '>>', '>>>', '/',
                       '%', '&&', '||')
        right = self.num(d - 1)
        if op in '/%' and self.r.random() < .9:
            right = f'(({right}) | 1)'
        if op == '>>>':
            op = '>>'
        return f'({self.num(d - 1)} {op} {right})'

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
        op = self.pick('@count', '@sum', '@min', '@max', '@avg')
        what = self.pick('st', f'sa[{self.key(d)}]')
        if what != 'st':
            return f'({what[3:-1]} in sa ? {op}({what}) : -9)'
        return f'{op}({what})'

    def num_call(self, d):
        if self.no_call:
            return self.num(d - 1)
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
            lambda: self.host_str(d),
            lambda: self.str(0) if self.no_call else
            f'fs({self.str(d - 1)}, {self.num(d - 1)})'])()

    def host_str(self, d):
        if self.r.random() < .7:
            return self.str(d - 1)
        return self.pick(f'str_replace({self.str(d - 1)}, "a", "<>")',
                         f'text_str({self.str(d - 1)})',
                         f'string_quoted({self.str(d - 1)})')

    def conversions(self, d):
        text, args = '', []
        for _ in range(self.r.randrange(1, 4)):
            conv = self.r.choice('ddisxuXocp')
            flag = self.r.choice(FLAGS)
            if conv == 's' and flag not in ('', '-') or \
                    conv == 'c' and flag == '#':
                flag = ''
            width = self.pick('', '', '5', '12', '24')
            prec = self.pick('', '', '', '.3', '.10')
            if conv in 'c':
                prec = ''
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
                 self.array, self.feed]
        if depth > 0:
            kinds += [self.branch, self.loop, self.guard, self.walk]
        return self.r.choice(kinds)(depth, pad)

    def assign(self, depth, pad):
        if self.r.random() < .5:
            var = self.pick('n0', 'n1', 'n2', 'gn0', 'gn1')
            op = self.pick('=', '=', '+=', '-=', '*=', '|=', '&=', '^=')
            return [f'{pad}{var} {op} {self.num(2)}']
        var = self.pick('s0', 's1', 'gs0')
        return [f'{pad}{var} {self.pick("=", "=", ".=")} {self.str(2)}']

    def show(self, depth, pad):
        if self.r.random() < .5:
            fmt, args = self.conversions(2)
            fmt = fmt[:-1] + '\\n"'
            return [f'{pad}printf({", ".join([fmt] + args)})']
        return [f'{pad}println({self.num(2)}, " ", {self.str(1)})']

    def array(self, depth, pad):
        lines = [('ga', f'ga[{self.key(1)}] {self.pick("=", "+=", "=")} '
                        f'{self.num(2)}'),
                 ('gb', f'gb[{self.skey(1)}]++'),
                 ('gb', f'gb[{self.skey(1)}] += {self.num(1)}'),
                 ('gc', f'gc[{self.key(1)}, {self.skey(1)}] = {self.str(1)}'),
                 ('ga', f'delete ga[{self.key(1)}]')]
        if self.r.random() < .1:
            lines += [('gb', 'delete gb'),
                      ('gc', f'delete gc[{self.key(0)}, *]')]
        name, line = self.r.choice(lines)
        if self.walked:
            return [f'{pad}n2 += {self.num(1)}']
        return [pad + line]

    def feed(self, depth, pad):
        if self.walked:
            return [f'{pad}n1 ^= {self.num(1)}']
        return [f'{pad}{self.pick("st", f"sa[{self.key(1)}]")} <<< '
                f'{self.num(1)}']

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
        head = f'for ({i} = 0; {i} < {self.r.randrange(1, 5)}; {i}++)'
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
        head = self.pick('k in ga', 'k+ in ga', 'k in ga-', 'k- in ga limit 2',
                         'v = k in ga', 'k+ in sa')
        self.walked.add('all')
        self.nums.append('k')
        lines = [f'{pad}foreach ({head})'] + self.block(0, pad)
        self.nums.remove('k')
        self.walked.clear()
        return lines

    # --- the whole ---------------------------------------------------------

    def text(self):
        out = ['#! tally -DMAXACTION=100000 -w',
               'global gn0 = 5, gn1 = -3, gs0 = "global", ga, gb, gc, st, sa']
        self.no_call = True
        names = self.nums, self.strs
        self.nums, self.strs = ['a', 'b'], ['"const"']
        out.append(f'function fn(a, b) {{ if (a > b) return {self.num(1)}; '
                   f'return a + {self.num(1)} }}')
        self.nums, self.strs = ['a'], ['s']
        out.append(f'function fs:string(s:string, a:long) '
                   f'{{ return {self.str(1)} . s }}')
        self.nums, self.strs = names
        self.no_call = False
        out += ['probe begin {', '\tn0 = gn0', '\tn1 = gn0 * 100',
                '\tn2 = -gn0', '\ts0 = gs0', '\ts1 = ""',
                '\tga[0] = 1; ga[2] = -5; gb["k"] = 3; gc[1, "k"] = "one"',
                '\tst <<< gn0', '\tsa[1] <<< 4; sa[1] <<< -4']
        for _ in range(self.r.randrange(3, 12)):
            out += self.statement(2, '\t')
        out += ['\tprintln(n0, " ", n1, " ", n2, " ", s0, " ", s1)',
                '\texit()', '}', 'probe end {',
                '\tprintln(gn0, " ", gn1, " ", gs0, " ", @count(st), " ", '
                '@sum(st))',
                '\tforeach (k+ in ga) println(k, " ", ga[k])',
                '\tforeach (t+ in gb) println(t, " ", gb[t])',
                '\tforeach ([k+, t] in gc) println(k, t, gc[k, t])',
                '\tforeach (k+ in sa) println(k, " ", @count(sa[k]), " ", '
                '@sum(sa[k]))', '\tprint(@hist_log(st))', '}']
        return '\n'.join(out) + '\n'


if __name__ == '__main__':
    print(Script(int(sys.argv[1])).text(), end='')

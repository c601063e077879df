/* SPDX-License-Identifier: MIT */
/*
 * A program whose debug information no compiler writes: an array of arrays of
 * arrays and so on (deep), a struct whose members without a name are itself
 * (loop), one with a member that has no type (hole), a function with a void *
 * (nothing). It runs, and ends at once.
 */
	.text
	.globl main
	.type main, @function
main:
	xor %eax, %eax
	ret
.Lmain_end:
	.size main, . - main

	.section .debug_abbrev, "", @progbits
	/* compile unit: name, low_pc, high_pc */
	.byte 1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0
	/* array: type */
	.byte 2, 0x01, 0, 0x49, 0x13, 0, 0
	/* variable: name, type, location */
	.byte 3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0
	/* struct with members: name, size */
	.byte 4, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0
	/* member without a name: type, location */
	.byte 5, 0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0
	/* member without name and type: location */
	.byte 6, 0x0d, 0, 0x38, 0x0b, 0, 0
	/* pointer to void: nothing */
	.byte 7, 0x0f, 0, 0, 0
	.byte 0

	.macro variable name, type
	.byte 3
	.asciz "\name"
	.long \type - .Lunit
	.byte 9, 0x03		/* 9 bytes: DW_OP_addr */
	.quad main
	.endm

	.section .debug_info, "", @progbits
.Lunit:
	.long .Lend - .Lversion
.Lversion:
	.short 4
	.long 0			/* of the abbreviations */
	.byte 8
	.byte 1
	.asciz "damaged.c"
	.quad main
	.long .Lmain_end - main
	variable deep, .Ldeep
	variable loop, .Lloop
	variable hole, .Lhole
	variable nothing, .Lnothing
.Lloop:
	.byte 4
	.asciz "loop"
	.byte 8
	.rept 4
	.byte 5
	.long .Lloop - .Lunit
	.byte 0
	.endr
	.byte 0
.Lhole:
	.byte 4
	.asciz "hole"
	.byte 8
	.byte 6, 0
	.byte 0
.Lnothing:
	.byte 7
.Ldeep:
	.rept 200000
	.byte 2
	.long . + 4 - .Lunit	/* the next one */
	.endr
	.byte 2
	.long .Ldeep - .Lunit
	.byte 0
.Lend:

	.section .note.GNU-stack, "", @progbits

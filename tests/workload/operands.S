/* SPDX-License-Identifier: MIT */
/*
 * work-operands: a program without a library, linked where it is loaded, that
 * passes a static probe once. Its note has operands that compilers seldom use.
 */
	.globl	_start
	.type	_start, @function
_start:
	mov	$0x1122334455667788, %rax
	mov	$0x80ff, %ebx
	mov	$2, %ecx
	movaps	vector(%rip), %xmm0
probe:
	nop
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall

	.data
	.balign	16
vector:	.4byte	1, 2, 3, 4
	.globl	table
	.type	table, @object
	.size	table, 16
table:	.4byte	10, 11, 12, -13

	.section .note.stapsdt, "", "note"
	.balign	4
	.4byte	name_end - name, end - desc, 3
name:	.asciz	"stapsdt"
name_end:
	.balign	4
desc:	.8byte	probe, 0, 0
	.asciz	"work"
	.asciz	"odd"
	.ascii	"1@%ah -1@%bh 1@%bl -4@table(,%rcx,4) 4@table+4 "
	.ascii	"-4@4+table(,%rcx,4) 4@8+table(%rip) 4@table "
	.asciz	"8f@%xmm0 4@16(%rip)"
end:	.balign	4

	.section .note.GNU-stack,"",@progbits

# SPDX-License-Identifier: BSD-3-Clause
# embed_file(TEXT SYMBOL FILE): appends C text to the variable TEXT that defines the array SYMBOL, which only its own
# library sees. The assembler copies the file into the array as it is, followed by a NUL.
function(embed_file text symbol file)
	string(APPEND ${text} "extern const char ${symbol}[] __attribute__((visibility(\"hidden\")));\n"
		"__asm__(\".pushsection .rodata\\n\"\n"
		"\t\".globl ${symbol}\\n.hidden ${symbol}\\n\"\n"
		"\t\"${symbol}:\\n.incbin \\\"${file}\\\"\\n.byte 0\\n\"\n"
		"\t\".popsection\");\n")
	set(${text} "${${text}}" PARENT_SCOPE)
endfunction()

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

# content_hash(HASH FILE): sets the variable HASH to what a content policy calls the file: "sha256-" and its SHA-256 in
# base64, of which 11 times 3 bytes are made, and the last byte is padding.
function(content_hash hash file)
	file(SHA256 ${file} digest)
	set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
	set(text "")
	foreach(part RANGE 10)
		math(EXPR at "6 * ${part}")
		string(SUBSTRING "${digest}00" ${at} 6 bytes)
		foreach(shift 18 12 6 0)
			math(EXPR digit "0x${bytes} >> ${shift} & 63")
			string(SUBSTRING "${digits}" ${digit} 1 digit)
			string(APPEND text "${digit}")
		endforeach()
	endforeach()
	string(REGEX REPLACE "A$" "=" text "${text}")
	set(${hash} sha256-${text} PARENT_SCOPE)
endfunction()

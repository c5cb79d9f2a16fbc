#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that the documents name exist, and docs/references.md names each file that cites literature.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

documents=(*.md docs/*.md docs/gallery/*.md docs/measurements/*.md packaging/README.md tools/slurm/README.md)

# A link to a file is relative to its document.
broken_links() {
	local document target

	for document in "${documents[@]}"; do
		grep -oE '\]\([^)]+\)' "$document" | sed 's/^](//; s/)$//; s/#.*//' | sort -u |
			while read -r target; do
				case $target in '' | *://*) continue ;; esac
				[ -e "$(dirname "$document")/$target" ] || echo "$document: $target"
			done
	done
}

# File names in `code` are relative to the root of the repository, except patterns and names with the
# placeholder NAME.
missing_files() {
	local document file

	for document in "${documents[@]}"; do
		grep -ohE '`(agent|cluster|multiplex|sampling|tools|tests|docs)/[a-zA-Z0-9_./-]+`' "$document" |
			tr -d '`' | sort -u | while read -r file; do
			[[ $file = *NAME* ]] || [ -e "$file" ] ||
				echo "$document: $file"
		done
	done
}

# Sources that cite literature, but are not in docs/references.md.
unnamed_citations() {
	local names='[Tt]hesis [A-Z0-9]|slides [0-9]|Cochran|Ester et al|Hubert|Neyman|Horvitz|Stein'\''s'

	names+='|Cornish|Efraimidis|Metwally|Masson|Knuth|Weyl|Deming|[Ss]plit[Mm]ix64|xorshift64'
	grep -rlE --include='*.[ch]' "$names" agent cluster multiplex sampling tools |
		while read -r file; do
			grep -qF "\`$file\`" docs/references.md || echo "$file"
		done
}

holds "there are documents" [ "${#documents[@]}" -ge 8 ]
is "$(broken_links)" "" "links lead to files that exist"
is "$(missing_files)" "" "files that documents name exist"
is "$(unnamed_citations)" "" "docs/references.md names each file that cites literature"
holds "the schemas of what phasemux writes are schemas" report schemas

done_testing

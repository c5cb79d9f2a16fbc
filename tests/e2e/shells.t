#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phasemux in shells: its environment, the module file and the completions, of an installed tree.
. "$(dirname "$0")/lib.sh"

# A place that each shell must quote.
place="$tmp/it's here"
holds "cmake --install" cmake --install "$build" --prefix "$place"
preload=$(find "$place" -name libphasemux.so)
export HOME=$tmp
shown='env | grep -E "^(PATH|MANPATH|PHASEMUX_PRELOAD|LD_[A-Z_]*)=" | sort'

# sets SHELL COMMAND: checks what the shell has after it executes the command
sets() {
	run "$1" env -i HOME="$tmp" PATH=/usr/bin:/bin MANPATH=/theirs "$@"
	is "$(cat "$1.out")" "MANPATH=$place/share/man:/theirs
PATH=$place/bin:/usr/bin:/bin
PHASEMUX_PRELOAD=$preload" "$1: phasemux env sets PATH, MANPATH and PHASEMUX_PRELOAD, and nothing else"
}
command="\"$place/bin/phasemux\" env"
sets sh -c "eval \"\$($command)\"; $shown"
sets bash -c "eval \"\$($command)\"; $shown"
if have zsh; then
	sets zsh -f -c "eval \"\$($command)\"; $shown"
else
	skip "zsh: phasemux env" "no zsh"
fi
if have tcsh; then
	sets tcsh -f -c "eval \`$command csh\`; $shown"
else
	skip "tcsh: phasemux env" "no tcsh"
fi
if have fish; then
	sets fish --no-config -c "$command fish | source; $shown"
else
	skip "fish: phasemux env" "no fish"
fi
run unset env -u MANPATH "$place/bin/phasemux" env
holds "a MANPATH that is not set keeps the places of the system" grep -q "share/man':\$" unset.out
run again env PATH="$place/bin:/usr/bin" "$place/bin/phasemux" env
is "$(grep -c '^export PATH' again.out)" 0 "PATH stays if the folder is in it"
run other "$phasemux" env powershell
is "$(cat other.code)" 2 "another shell is refused"
holds "with the names of those that are known" grep -q 'sh, csh, fish' other.err

init=/usr/share/lmod/lmod/init/bash
if [ -e $init ]; then
	run lmod PLACE="$place" bash -c ". $init; module use \"\$PLACE/share/modulefiles\"; unset MANPATH; module load phasemux
		printf '%s\n' \"\$PHASEMUX_PRELOAD\" \"\${PATH%%:*}\" \"\$MANPATH\" \"\${LD_PRELOAD-}\${LD_LIBRARY_PATH-}\""
	is "$(sed 's/:*$//' lmod.out)" "$preload
$place/bin
$place/share/man" "Lmod: the module sets what phasemux env prints"
else
	skip "Lmod: the module sets what phasemux env prints" "no Lmod"
fi

# ---- completions
cat >bash_completion.sh <<'END'
. "$1/share/bash-completion/completions/phasemux"
while IFS= read -r line; do
	read -ra COMP_WORDS <<<"$line"
	[[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_phasemux
	printf '%s: %s\n' "$line" "${COMPREPLY[*]}"
done
END
touch a-file
cat >lines <<'END'
phasemux comp
phasemux run --scheme ti
phasemux run --scheme = ti
phasemux run --burst
phasemux report --js
phasemux report a-f
phasemux run --threads 
phasemux run -- --sche
END
run bash_completion bash bash_completion.sh "$place" <lines
bash bash_completion.sh "$place" <lines >bash_completion.out 2>&1
is "$(cat bash_completion.out)" "phasemux comp: compare
phasemux run --scheme ti: time-space time
phasemux run --scheme = ti: time-space time
phasemux run --burst: --burst-min
phasemux report --js: --json
phasemux report a-f: a-file
phasemux run --threads : 
phasemux run -- --sche: " "bash: commands, options, values and files"
words() { sed 's/^[^:]*://' | tr ' ' '\n' | grep . | sort; }
"$phasemux" models | sed -n '/^$/q; s/ .*//p' | sort >models
echo 'phasemux models ' >lines
is "$(bash bash_completion.sh "$place" <lines | words)" "$(cat models)" "bash: all models"
"$phasemux" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort >commands
echo 'phasemux ' >lines
is "$(bash bash_completion.sh "$place" <lines | words | grep -v ^-)" "$(cat commands)" \
	"bash: all commands"
"$phasemux" run --help | sed -n 's/^  \(--[a-z-]*\) .*/\1/p' | cat - <(echo --help) | sort >settings
echo 'phasemux run --' >lines
is "$(bash bash_completion.sh "$place" <lines | words)" "$(cat settings)" "bash: all settings and options of phasemux run"

if have fish; then
	cat >completion.fish <<'END'
source "$argv[1]/share/fish/vendor_completions.d/phasemux.fish"
for line in "comp" "run --scheme ti" "run --burst" "report --js" "models zen5"
	echo "$line:" (complete -C "phasemux $line" | cut -f 1)
end
END
	run fish_completion fish --no-config completion.fish "$place"
	is "$(cat fish_completion.out fish_completion.err)" "comp: compare
run --scheme ti: time time-space
run --burst: --burst-min
report --js: --json
models zen5: zen5" "fish: commands, options and values"
else
	skip "fish: commands, options and values" "no fish"
fi

# An interactive zsh completes each word at a tab. The function says what became of the line.
if have zsh; then
	cat >completion.zsh <<'END'
zmodload zsh/zpty || exit 3
zpty shell zsh -f -i
zpty -w shell 'PS1= RPS1= zle_highlight=(); unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste'
zpty -w shell 'fpath=("$PLACE/share/zsh/site-functions" $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w shell 'phasemux() { print -r -- "GOT:$*:" }'
for line in comp 'run --scheme=rand' 'run --burst' 'report --js' 'models zen5'; do
	zpty -w shell "phasemux $line"$'\t'
	while zpty -r shell text; do
		[[ $text == GOT:* ]] && break
	done
	print -r -- "${${text#GOT:}%%:*}"
done
zpty -d shell
END
	run zsh_completion PLACE="$place" TERM=dumb timeout 20 zsh -f completion.zsh
	if [ "$(cat zsh_completion.code)" = 3 ]; then
		skip "zsh: commands, options and values" "this zsh has no pseudo terminals"
	else
		is "$(sed 's/[ =]*$//' zsh_completion.out)" "compare
run --scheme=random
run --burst-min
report --json
models zen5" "zsh: commands, options and values"
	fi
else
	skip "zsh: commands, options and values" "no zsh"
fi

done_testing

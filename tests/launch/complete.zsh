# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: zsh -f complete.zsh FOLDER WORDS
# Prints what an interactive zsh with the completions of FOLDER offers after these words, one per line.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; stty -echo; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
# A compadd with -O, -A or -D offers nothing: it fills an array.
zpty -w shell '
compadd() {
    local -a found
    if [[ " $* " != *" -"[OAD]" "* ]]; then
        builtin compadd -O found "$@"
        (( $#found )) && print -rl -- "offer:"${^found}
    fi
    builtin compadd "$@"
}
offer() { _main_complete; print -r -- the" "end; exit }
zle -C offer list-choices offer
bindkey "^I" offer
print is" "ready'
zpty -r shell line '*is ready*'
zpty -n -w shell "$2"$'\t'
zpty -r shell line '*the end*'
print -r -- "$line" | tr -d '\r' | sed -n 's/^.*offer://p'
zpty -d shell

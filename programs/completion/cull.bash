# Completion of cull in bash. The program itself says what may stand where: `cull complete WORD...`.
_cull()
{
    local typed=${COMP_LINE:0:COMP_POINT} cut=${2-} word what i single double
    local -a words=()

    # bash cuts words at '=' and ':' too: here they are whole again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && [[ $word == [=:]* || ${COMP_WORDS[i - 1]} == *[=:] ]] &&
            [[ ${words[-1]-} && $typed == *"${words[-1]}$word"* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    # Quotes are the shell's; an odd number of them is one that is open.
    for i in "${!words[@]}"; do
        word=${words[i]//\\ / }
        words[i]=${word//[\"\']/}
    done
    single=${typed//[^\']/} double=${typed//[^\"]/}
    word=${words[-1]-} cut=${cut//[\"\']/} cut=${cut//\\ / }
    COMPREPLY=()
    while IFS=$'\t' read -r what _; do
        [[ $what == *[=,/] ]] && compopt -o nospace
        what=${what#"${word%"$cut"}"}
        if [[ $what == *[[:space:]\&\;\(\)\<\>]* ]] && ((${#single} % 2 + ${#double} % 2 == 0)); then
            printf -v what '%q' "$what"
        fi
        COMPREPLY+=("$what")
    done < <("$1" complete "${words[@]}" 2>/dev/null)
}
complete -F _cull cull

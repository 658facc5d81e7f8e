# Completion of cull in fish. The program itself says what may stand where: `cull complete WORD...`.
function __cull_complete
    set -l words (commandline -opc) (commandline -ct | string unescape)
    $words[1] complete $words[2..-1] 2>/dev/null
end
complete -c cull -f -a '(__cull_complete)'

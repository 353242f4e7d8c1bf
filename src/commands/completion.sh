# bash completion for openhook-otel; needs no other package, and bash 3.2 or later
_openhook_otel() {
  local line=${COMP_LINE:0:COMP_POINT} words=() value
  # Not from COMP_WORDS, where --agent=codex is three words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  COMPREPLY=()
  while IFS= read -r line; do
    value=${line%%$'\t'*}
    # The last line, which begins with a colon, is for other shells
    [[ $value == :* ]] || COMPREPLY+=("$value")
  done < <(PROGRAM complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _openhook_otel openhook-otel

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * What a shell runs at Tab: it asks `sless __complete -- <words>` and shows the lines, each a word, perhaps with a tab
 * and what it does. A line `:files` leaves it to the shell, which knows files best.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# sless completion for bash: source <(sless completion bash)
_sless() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(sless __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _sless sless
`,
  zsh: `#compdef sless
# sless completion for zsh: source <(sless completion zsh)
_sless() {
  local line word
  local -a words_found described
  for line in "\${(@f)$(sless __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ":files" ]]; then
      _files
      return
    fi
    [[ -z $line ]] && continue
    word="\${line%%$'\\t'*}"
    words_found+=("$word")
    described+=("\${line/$'\\t'/  -- }")
  done
  (( \${#words_found} )) && compadd -l -d described -a words_found
}
compdef _sless sless
`,
  fish: `# sless completion for fish: sless completion fish > ~/.config/fish/completions/sless.fish
function __sless_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (sless __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c sless -f -a '(__sless_complete)'
`,
};

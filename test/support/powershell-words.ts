/**
 * The commands of a line by the rules of PowerShell's tokenizer, each as its words: `'` and `"` begin and end a text, also within a word;
 * `;` separates commands, and a word that begins with `#` begins a comment. `\` is an ordinary character.
 *
 * @throws for everything else with a meaning in PowerShell, such as `&`, `|`, `$` in double quotes, or a text where a command must be
 */
export function powershellCommands(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  const tokens = line.match(/\s+|;|(?:'[^']*'|"[^"]*"|[^\s;'"])+|['"]/g) ?? [];
  for (const [index, token] of tokens.entries()) {
    const words = commands.at(-1) ?? [];
    if (token.startsWith("#")) break;
    if (token === ";") commands.push([]);
    else if (token.trim() !== "") {
      if (index === 0 || words.length === 0) refuse(token, /^['"(]/);
      refuse(token.replaceAll(/'[^']*'/g, "''"), /[$`]/);
      refuse(token.replaceAll(/'[^']*'|"[^"]*"/g, "_"), /['"(){},|&<>]|^@/);
      words.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double));
    }
  }
  return commands;
}

function refuse(token: string, meaning: RegExp): void {
  if (meaning.test(token)) throw new Error(`PowerShell gives ${token} another meaning`);
}

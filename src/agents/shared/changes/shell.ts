/** One program with its arguments, as a shell would start it. */
export interface ShellCommand {
  /** Words without quotes. A word that the shell computes contains `COMPUTED` in place of what is computed. */
  readonly words: readonly string[];
  /** What connects it with the next one; `""` after the last. */
  readonly next: "&&" | "||" | ";" | "|" | "&" | "";
}

/** Replaces what only the shell knows: the result of a substitution or a variable. */
export const COMPUTED = "\0";

/**
 * Splits a command line of a shell into programs: lists, pipelines, quotes, here documents. Texts of here documents and the inside of
 * substitutions are skipped. The words of `bash -c '…'` are split too.
 *
 * @returns `undefined` if the text ends inside a quote or substitution, or is too long
 */
export function shellCommands(text: string, depth = 0): readonly ShellCommand[] | undefined {
  if (text.length > MAX_CHARACTERS || depth > MAX_DEPTH) return undefined;
  const scanner = new Scanner(text);
  const commands = scanner.list();
  if (commands === undefined) return undefined;
  const all: ShellCommand[] = [];
  for (const command of commands) {
    const inner = scriptIn(command.words);
    if (inner === undefined) {
      all.push(command);
      continue;
    }
    const within = shellCommands(inner, depth + 1);
    if (within === undefined) return undefined;
    all.push(...within.map((one, at) => (at === within.length - 1 ? { ...one, next: command.next } : one)));
  }
  return all;
}

// --- internal ---

const MAX_CHARACTERS = 1 << 16;
const MAX_DEPTH = 4;

/** The script of `bash -lc 'script'`. */
function scriptIn(words: readonly string[]): string | undefined {
  const [program = "", ...rest] = words;
  if (!/^(?:.*\/)?(?:ba|z|da|k)?sh$/.test(program)) return undefined;
  const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
  return at === -1 || !rest.slice(0, at).every((word) => word.startsWith("-")) ? undefined : rest[at + 1];
}

class Scanner {
  readonly #text: string;
  #at = 0;
  /** Ends of here documents that begin after this line. */
  #documents: { readonly end: string; readonly isIndented: boolean }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads commands up to the end, or up to the `)` that ends a substitution. */
  list(isSubstitution = false): readonly ShellCommand[] | undefined {
    const commands: ShellCommand[] = [];
    let words: string[] = [];
    const end = (next: ShellCommand["next"]): void => {
      const own = withoutKeywords(words);
      if (own.length > 0) commands.push({ words: own, next });
      words = [];
    };
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at, this.#at + 3);
      const [first = ""] = rest;
      if (first === " " || first === "\t" || first === "\r") this.#at++;
      else if (first === "\\" && /^\\\r?\n/.test(rest)) this.#at += rest[1] === "\r" ? 3 : 2;
      else if (first === "#") this.#skipLine();
      else if (first === "\n") {
        end(";");
        this.#at++;
        if (!this.#skipDocuments()) return undefined;
      } else if (rest.startsWith("<<<")) this.#at += 3;
      else if (rest.startsWith("<<")) {
        if (!this.#document()) return undefined;
      } else if (/^&?>/.test(rest) || first === "<") {
        if (!this.#redirection(words)) return undefined;
      } else if (rest.startsWith("&&") || rest.startsWith("||")) {
        end(rest.slice(0, 2) as "&&" | "||");
        this.#at += 2;
      } else if (first === ";" || first === "|" || first === "&") {
        end(first);
        this.#at += rest.startsWith("|&") || rest.startsWith(";;") ? 2 : 1;
      } else if (first === "(") {
        end(";");
        this.#at++;
      } else if (first === ")") {
        this.#at++;
        end(isSubstitution ? "" : ";");
        if (isSubstitution) return commands;
      } else {
        const word = this.#word();
        if (word === undefined) return undefined;
        words.push(word);
      }
    }
    end("");
    return isSubstitution ? undefined : commands;
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  /** `> file`, `2>&1`, `&> file`: no words. */
  #redirection(words: string[]): boolean {
    if (/^\d$/.test(words.at(-1) ?? "") && /\d/.test(this.#text[this.#at - 1] ?? "")) words.pop();
    this.#at += /^(?:&>>|&>|>>|>&|<&|>\||>|<)/.exec(this.#text.slice(this.#at, this.#at + 3))?.[0].length ?? 1;
    while (this.#text[this.#at] === " ") this.#at++;
    if (this.#text[this.#at] === "(") return true;
    return this.#word() !== undefined;
  }

  #document(): boolean {
    this.#at += 2;
    const isIndented = this.#text[this.#at] === "-";
    if (isIndented) this.#at++;
    while (this.#text[this.#at] === " ") this.#at++;
    const end = this.#word();
    if (end === undefined || end === "") return false;
    this.#documents.push({ end, isIndented });
    return true;
  }

  /** After a line's end: skips the texts of its here documents. */
  #skipDocuments(): boolean {
    for (const { end, isIndented } of this.#documents) {
      for (;;) {
        if (this.#at >= this.#text.length) return false;
        const stop = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, stop === -1 ? undefined : stop).replace(/\r$/, "");
        this.#at = stop === -1 ? this.#text.length : stop + 1;
        if ((isIndented ? line.replace(/^\t+/, "") : line) === end) break;
      }
    }
    this.#documents = [];
    return true;
  }

  #word(): string | undefined {
    let word = "";
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || /[\s;&|<>()]/.test(char)) return word;
      this.#at++;
      if (char === "'") {
        const end = this.#text.indexOf("'", this.#at);
        if (end === -1) return undefined;
        word += this.#text.slice(this.#at, end);
        this.#at = end + 1;
      } else if (char === '"') {
        const quoted = this.#quoted();
        if (quoted === undefined) return undefined;
        word += quoted;
      } else if (char === "\\") {
        const next = this.#text[this.#at++];
        // A backslash before a letter may be part of a Windows path, so it is kept; git's words and options have none
        if (next !== undefined && next !== "\n") word += /\w/.test(next) ? `\\${next}` : next;
      } else if (char === "`" || char === "$") {
        if (!this.#substitution(char)) return undefined;
        word += this.#text[this.#at - 1] === "$" && char === "$" ? "$" : COMPUTED;
      } else word += char;
    }
  }

  #quoted(): string | undefined {
    let text = "";
    for (;;) {
      const char = this.#text[this.#at++];
      if (char === undefined) return undefined;
      if (char === '"') return text;
      if (char === "\\") {
        const next = this.#text[this.#at++] ?? "";
        text += /["\\$`\n]/.test(next) ? next : `\\${next}`;
      } else if (char === "`" || char === "$") {
        if (!this.#substitution(char)) return undefined;
        text += this.#text[this.#at - 1] === "$" && char === "$" ? "$" : COMPUTED;
      } else text += char;
    }
  }

  /** After a `` ` `` or `$`: skips what the shell computes. A single `$` is a character. */
  #substitution(char: string): boolean {
    if (char === "`") {
      const end = this.#text.indexOf("`", this.#at);
      this.#at = end + 1;
      return end !== -1;
    }
    const next = this.#text[this.#at];
    if (next === "(") {
      this.#at++;
      const outer = this.#documents;
      this.#documents = [];
      const inner = this.list(true);
      this.#documents = outer;
      return inner !== undefined;
    }
    if (next === "{") {
      const end = this.#text.indexOf("}", this.#at);
      this.#at = end + 1;
      return end !== -1;
    }
    this.#at += /^(?:\w+|[?!$#@*-])/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0].length ?? 0;
    return true;
  }
}

/** A command without the shell's own words and variables before the program. */
function withoutKeywords(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !KEYWORDS.has(word));
  return first === -1 ? [] : words.slice(first);
}

const KEYWORDS: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "do",
  "done",
  "while",
  "until",
  "{",
  "}",
  "!",
  "time",
]);

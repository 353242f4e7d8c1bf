import { COMPUTED, type ShellCommand } from "./shell.ts";

/** A program of a command line that can make commits or show changes, or that only passes on what others print. */
export interface KnownProgram {
  readonly name: string;
  /** All words that are neither options nor their values, subcommands first: `["pr", "create"]`. */
  readonly operands: readonly string[];
  readonly options: ReadonlySet<string>;
  /** It does not work in the folder of the command line: `git -C`, `--git-dir`, `gh -R`. */
  readonly isElsewhere: boolean;
}

/** The program of a command, without `env`, variables and path. `undefined` if only the shell knows it. */
export function programOf({ words }: ShellCommand): KnownProgram | undefined {
  let at = 0;
  let isElsewhere = false;
  while (at < words.length) {
    const word = words[at] ?? "";
    const variable = /^([A-Za-z_]\w*)=/.exec(word)?.[1];
    if (variable !== undefined) isElsewhere ||= /^GIT_(?:DIR|WORK_TREE|COMMON_DIR)$|^GH_REPO$/.test(variable);
    else if (!PREFIXES.has(word)) break;
    at++;
  }
  const first = words[at];
  if (first === undefined || first.includes(COMPUTED)) return undefined;
  const name = (/[^/\\]*$/.exec(first)?.[0] ?? "").replace(/\.exe$/i, "").toLowerCase();
  const valued = VALUED[name] ?? NONE;
  const operands: string[] = [];
  const options = new Set<string>();
  for (at++; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const option = /^--[^=]*/.exec(word)?.[0] ?? word;
    options.add(option);
    // Options before the subcommand decide where git works; after it, -C copies a message
    if (operands.length === 0 || name !== "git") isElsewhere ||= ELSEWHERE[name]?.has(option) === true;
    if (valued.has(option) && (name !== "git" || operands.length === 0)) at += option === word ? 1 : 0;
  }
  return { name, operands, options, isElsewhere };
}

/** Whether a program has an option, by its long name or its letter. Joined letters count too: `-am` has `a` and `m`. */
export const hasOption = ({ options }: KnownProgram, long: string, letter?: string): boolean =>
  options.has(long) ||
  (letter !== undefined && [...options].some((one) => new RegExp(`^-[a-zA-Z]*${letter}`).test(one)));

/** Subcommands of git after which HEAD is a new commit, if they succeed. Each prints `[branch id] subject` unless it is quiet. */
export const MAKES_COMMIT: ReadonlySet<string> = new Set(["commit", "cherry-pick", "revert"]);

/** Whether a program prints nothing that looks like the answer of `git commit`, or like the address of a change. */
export const isSilent = ({ name, operands: [first = ""] }: KnownProgram): boolean =>
  name === "git" ? SILENT_GIT.has(first) : SILENT.has(name);

/** Whether a program after a `|` passes on its input or a part of it. */
export const isFilter = ({ name, operands }: KnownProgram): boolean =>
  FILTERS.has(name) && (name !== "cat" || operands.length === 0);

// --- internal ---

const PREFIXES: ReadonlySet<string> = new Set(["env", "command", "exec", "nohup", "sudo", "builtin"]);
const NONE: ReadonlySet<string> = new Set();

/** Options followed by a value, which is no operand. Of git only those before the subcommand matter. */
const VALUED: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"]),
  gh: new Set(
    `-R --repo --hostname -t --title -b --body -F --body-file -B --base -H --head -a --assignee -l --label -m --milestone
    -p --project -r --reviewer -T --template --recover -X --method -f --raw-field --field -q --jq --json --input --cache`.split(
      /\s+/,
    ),
  ),
  glab: new Set(
    `-R --repo -t --title -d --description -b --target-branch -s --source-branch -a --assignee -l --label -m --milestone
    --reviewer -X --method -f --raw-field -F --field --input`.split(/\s+/),
  ),
};

const ELSEWHERE: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(["-C", "--git-dir", "--work-tree"]),
  gh: new Set(["-R", "--repo", "--hostname"]),
  glab: new Set(["-R", "--repo"]),
};

const SILENT: ReadonlySet<string> = new Set(
  "cd pushd popd true false : set export unset mkdir rmdir rm cp mv touch ln chmod pwd ls test [ sleep".split(" "),
);
const SILENT_GIT: ReadonlySet<string> = new Set(
  `add rm mv status push pull fetch checkout switch restore reset branch tag config init remote rev-parse stash worktree
  update-index ls-files merge-base symbolic-ref clean`.split(/\s+/),
);
const FILTERS: ReadonlySet<string> = new Set("tail head grep cat tee".split(" "));

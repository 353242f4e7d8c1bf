import type { ChangeFact, CommitFact, CommitKind } from "#core/model/changes.ts";
import { hasOption, isFilter, isSilent, type KnownProgram, MAKES_COMMIT, programOf } from "./programs.ts";
import { type ShellCommand, shellCommands } from "./shell.ts";

/** What a shell command did to a repository, as far as its text and what it printed show. */
export interface ShellChanges {
  readonly commits: readonly Omit<CommitFact, "callId">[];
  readonly changes: readonly Omit<ChangeFact, "callId">[];
  /** How many commits it certainly made in the folder where it ran. Absent: unknown, because it may have failed or made more. */
  readonly madeCommits?: number;
}

/**
 * Commits and changes of a shell command that ended without an error.
 *
 * A line like the answer of `git commit` counts as observed only if no other program can have printed it, and if the commit certainly
 * succeeded. It is inferred if that is not certain; the log of HEAD can confirm it.
 *
 * @param cwd the folder in which it ran, if it is known
 */
export function changesOfShell(command: string, output: string, cwd: string | undefined): ShellChanges {
  if (!mayChange(command)) return NOTHING;
  const commands = shellCommands(command);
  if (commands === undefined) return NOTHING;
  const programs = commands.map(programOf);
  const list: ListedPrograms = {
    programs,
    // Every program of an `&&` list succeeded if the list did
    isCertain: commands.every(({ next }, at) => next === "&&" || at === commands.length - 1),
    isElsewhere: movesElsewhere(commands, programs, cwd),
    printsNothing: programs.map(
      (one, at) => one !== undefined && (isSilent(one) || (commands[at - 1]?.next === "|" && isFilter(one))),
    ),
  };
  return { ...commitsIn(list, output), changes: changesIn(list, output) };
}

/** Cheap check of a command line, before anything else is done with it. */
export const mayChange = (command: string): boolean => PROGRAMS.test(command) && ACTIONS.test(command);

/** Whether a tool, by its name, creates a pull request or an issue, like `mcp__github__create_pull_request`. */
export const mayCreateChange = (tool: string): boolean => CREATES.test(tool);

/** The change that such a tool created. */
export function changesOfTool(tool: string, output: string): ShellChanges {
  const kind = /issue$/i.test(tool) ? "issue" : "pull_request";
  const found = addressesIn(output, true).filter(({ changeKind }) => changeKind === kind);
  const [only] = found;
  if (only === undefined || found.some(({ url }) => url !== only.url)) return NOTHING;
  return {
    commits: [],
    changes: [{ ...only, certainty: "observed", how: "printed", isCreated: true, isElsewhere: true }],
  };
}

/** The address of a pull request, merge request or issue in a text. */
function changeOfUrl(url: string): Pick<ChangeFact, "changeKind" | "change" | "url"> | undefined {
  for (const [pattern, changeKind] of URLS) {
    const [, base, change] = pattern.exec(url) ?? [];
    if (base !== undefined && change !== undefined) return { changeKind, change, url: base };
  }
  return undefined;
}

// --- internal ---

const CREATES = /(?:^|_|-|\.|\/)create_?(?:pull_?request|merge_?request|issue)$/i;

const PROGRAMS = /\b(?:git|gh|glab|curl)(?:\.exe)?\b/i;
const ACTIONS = /\b(?:commit|cherry-pick|revert|merge|push|pr|mr|issues?|pulls|merge_requests)\b/;

const NOTHING: ShellChanges = { commits: [], changes: [] };

interface ListedPrograms {
  /** `undefined`: only the shell knows the program. */
  readonly programs: readonly (KnownProgram | undefined)[];
  readonly isCertain: boolean;
  /** By index of the program. */
  readonly isElsewhere: readonly boolean[];
  /** Whether it prints no ids and addresses. */
  readonly printsNothing: readonly boolean[];
}

/** Whether each program may work in another repository: after `cd`, or because of its options. */
function movesElsewhere(
  commands: readonly ShellCommand[],
  programs: readonly (KnownProgram | undefined)[],
  cwd: string | undefined,
): readonly boolean[] {
  let hasMoved = false;
  return programs.map((program, at) => {
    if (program?.name === "cd" || program?.name === "pushd" || program?.name === "popd") {
      const to = commands[at]?.words.at(-1)?.replace(/(?<=.)[/\\]$/, "");
      hasMoved ||= to !== "." && (cwd === undefined || to !== cwd.replace(/(?<=.)[/\\]$/, ""));
    }
    return hasMoved || program?.isElsewhere === true;
  });
}

/** `[main 1a2b3c4] subject`, `[detached HEAD 1a2b3c4] …`, `[main (root-commit) 1a2b3c4] …` */
const ANSWER = /^\[(detached HEAD|[^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{4,64})\] /;
const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function commitsIn({ programs, isCertain, isElsewhere, printsNothing }: ListedPrograms, output: string) {
  const makers = programs.flatMap((program, at) => (makesCommits(program) ? [{ program, at }] : []));
  const lines = output.split(/\r?\n/);
  if (makers.length === 0)
    return { commits: [], ...(isCertain && hasMerged(programs, isElsewhere, lines) && { madeCommits: 1 }) };
  const isSure = isCertain && makers.every(({ program }) => program !== undefined && makesOne(program));
  const inPlace = makers.every(({ at }) => isElsewhere[at] === false);
  const answers = answersIn(lines);
  const printing = makers.filter(({ program }) => program !== undefined && !isQuiet(program));
  const isAlone = programs.every((one, at) => makesCommits(one) || printsNothing[at]);
  const isObserved = isSure && answers.length === printing.length;
  const isPossible = isObserved || (isAlone && answers.length <= printing.length);
  const commits = isPossible
    ? answers.map(({ branch, commit }, at) =>
        commitFact(commit, branch, printing[at], isObserved ? "observed" : "inferred", isElsewhere),
      )
    : [];
  // `git commit -q && git rev-parse HEAD`
  const last = makers.at(-1);
  const asks = programs.findIndex((one, at) => at > (last?.at ?? 0) && isQuestionForHead(one));
  const ids = lines.filter((line) => FULL_ID.test(line.trim()));
  if (isSure && asks !== -1 && ids.length === 1 && commits.length < makers.length) {
    const commit = ids[0]?.trim() ?? "";
    if (!commits.some((one) => commit.startsWith(one.commit)))
      commits.push(commitFact(commit, undefined, last, "observed", isElsewhere));
  }
  return { commits, ...(isSure && inPlace && { madeCommits: makers.length }) };
}

/** Whether the only merge made a commit. git does not print its id, but the log of HEAD has it. */
function hasMerged(
  programs: readonly (KnownProgram | undefined)[],
  isElsewhere: readonly boolean[],
  lines: readonly string[],
): boolean {
  const merges = programs.flatMap((one, at) => (one?.name === "git" && one.operands[0] === "merge" ? [at] : []));
  const [at] = merges;
  return (
    at !== undefined &&
    merges.length === 1 &&
    isElsewhere[at] === false &&
    lines.filter((line) => MERGED.test(line)).length === 1
  );
}

const MERGED = /^Merge made by .+\.$/;

const answersIn = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    const [, branch = "", commit = ""] = ANSWER.exec(line) ?? [];
    return commit === "" ? [] : [{ branch: branch === "detached HEAD" ? undefined : branch, commit }];
  });

interface Maker {
  readonly program: KnownProgram | undefined;
  readonly at: number;
}

function commitFact(
  commit: string,
  branch: string | undefined,
  maker: Maker | undefined,
  certainty: CommitFact["certainty"],
  isElsewhere: readonly boolean[],
): Omit<CommitFact, "callId"> {
  const kind = maker?.program === undefined ? undefined : kindOf(maker.program);
  return {
    commit,
    certainty,
    how: "printed",
    ...(kind !== undefined && { commitKind: kind }),
    ...(branch !== undefined && { branch }),
    ...(isElsewhere[maker?.at ?? 0] === true && { isElsewhere: true as const }),
  };
}

const makesCommits = (program: KnownProgram | undefined): boolean =>
  program?.name === "git" && MAKES_COMMIT.has(program.operands[0] ?? "") && !hasOption(program, "--dry-run");

/** Whether it makes exactly one commit if it succeeds. */
function makesOne(program: KnownProgram): boolean {
  if (program.operands[0] === "commit")
    return !["--short", "--porcelain", "--long"].some((one) => program.options.has(one));
  const stops = ["--no-commit", "--abort", "--quit", "--skip", "--continue"].some((one) => program.options.has(one));
  return (
    !stops &&
    !hasOption(program, "--no-commit", "n") &&
    program.operands.length === 2 &&
    !program.operands[1]?.includes("..")
  );
}

const isQuiet = (program: KnownProgram): boolean => hasOption(program, "--quiet", "q");

const kindOf = (program: KnownProgram): CommitKind =>
  program.operands[0] === "cherry-pick"
    ? "cherry_pick"
    : program.operands[0] === "revert"
      ? "revert"
      : hasOption(program, "--amend")
        ? "amend"
        : "commit";

const isQuestionForHead = (program: KnownProgram | undefined): boolean =>
  program?.name === "git" &&
  program.operands[0] === "rev-parse" &&
  program.operands[1] === "HEAD" &&
  program.operands.length === 2;

const REPOSITORY = String.raw`https?:\/\/[\w.-]+(?::\d+)?(?:\/[\w.~-]+)+?`;
const URLS: readonly (readonly [RegExp, ChangeFact["changeKind"]])[] = [
  [new RegExp(String.raw`^(${REPOSITORY}\/(?:pull|pulls|pullrequest|pull-requests)\/(\d{1,9}))(?!\d)`), "pull_request"],
  [new RegExp(String.raw`^(${REPOSITORY}\/-\/merge_requests\/(\d{1,9}))(?!\d)`), "pull_request"],
  [new RegExp(String.raw`^(${REPOSITORY}\/(?:-\/)?issues\/(\d{1,9}))(?!\d)`), "issue"],
];

/**
 * What the programs of a list show of pull requests and issues. An address counts only if no other one of its kind is
 * in the output.
 */
function changesIn(
  { programs, isCertain, isElsewhere, printsNothing }: ListedPrograms,
  output: string,
): ShellChanges["changes"] {
  const shown = programs.flatMap((program, at) => {
    const of = program === undefined ? undefined : showsChange(program);
    return of === undefined ? [] : [{ ...of, at }];
  });
  if (shown.length === 0) return [];
  // The address that a push prints counts only if no other program shows a change
  const asked = shown.filter(({ isPush }) => !isPush);
  const isAlone = programs.every(
    (one, at) => (one !== undefined && showsChange(one)) || makesCommits(one) || printsNothing[at],
  );
  if (!isAlone && !isCertain) return [];
  return (asked.length > 0 ? asked : shown).flatMap(({ kind, isCreated, at }): ShellChanges["changes"] => {
    // Two programs that show the same kind: which of them printed an address is unknown
    if (asked.filter((one) => one.kind === kind).length > 1) return [];
    const found = addressesIn(output, isCreated).filter(({ changeKind }) => changeKind === kind);
    const [only] = found;
    if (only === undefined || found.some(({ url }) => url !== only.url)) return [];
    const creates = isCreated && isCertain && !/\balready exists\b/.test(output);
    return [
      {
        ...only,
        certainty: "observed",
        how: "printed",
        ...(creates && { isCreated: true as const }),
        ...(isElsewhere[at] === true && { isElsewhere: true as const }),
      },
    ];
  });
}

function showsChange({ name, operands }: KnownProgram) {
  const [group = "", verb = ""] = operands;
  if (name === "git")
    return group === "push" ? { kind: "pull_request" as const, isCreated: false, isPush: true } : undefined;
  const kind = name === "gh" || name === "glab" ? GROUPS[group] : undefined;
  if (kind !== undefined)
    return ONE.has(verb) ? { kind, isCreated: verb === "create" || verb === "new", isPush: false } : undefined;
  const path = operands.find((one) => /(?:^|\/)repos\/[^/]+\/[^/]+\/(?:pulls|issues)$|\/merge_requests$/.test(one));
  if (path === undefined) return undefined;
  return {
    kind: path.endsWith("issues") ? ("issue" as const) : ("pull_request" as const),
    isCreated: true,
    isPush: false,
  };
}

const GROUPS: Readonly<Record<string, ChangeFact["changeKind"]>> = {
  pr: "pull_request",
  mr: "pull_request",
  issue: "issue",
};
/** Subcommands about one pull request or issue. */
const ONE: ReadonlySet<string> = new Set(
  "create new view show edit update ready merge checkout comment note close reopen".split(" "),
);

/**
 * Addresses of changes: on a separate line, as programs print them, after `url:`, or as a value in JSON. Elsewhere,
 * texts of pull requests mention other changes.
 */
function addressesIn(output: string, isCreated: boolean) {
  const alone = [...output.matchAll(/^(?:url:|remote:)?\s*(https?:\/\/\S+?)\s*$/gm)].flatMap(
    ([, url = ""]) => changeOfUrl(url) ?? [],
  );
  if (alone.length > 0) return isCreated ? alone.slice(-1) : alone;
  // GitHub's API also has its own address under `url`
  for (const member of ["html_url", "web_url", "url"]) {
    const named = new RegExp(`"${member}"\\s*:\\s*"(https?:[^"\\s]+)"`, "g");
    const found = [...output.matchAll(named)].flatMap(([, url = ""]) => changeOfUrl(url) ?? []);
    if (found.length > 0) return found;
  }
  return [];
}

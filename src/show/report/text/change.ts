import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { flow, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { ChangeReport, KnownCommit } from "../change-report.ts";
import type { NamedChange } from "../find-change.ts";
import { COMMIT_LENGTH } from "./usage-keys.ts";
import { notesOf } from "./usage-notes.ts";
import { type SessionTitles, usageTable } from "./usage-report.ts";

/** A commit or change with the sessions behind it. */
export function* changeLines(report: ChangeReport, terminal: Terminal, titles?: SessionTitles): Generator<string> {
  const { change, commits, rows, total, models } = report;
  yield* flow(headOf(report), terminal);
  if (change.kind !== "commit") {
    const named = commits.length === 0 ? "" : `: ${commitTexts(commits, MAX_COMMITS)}`;
    yield* wrapped({ text: "" }, `${plural(commits.length, "commit")}${named}`, terminal);
    if (change.isFromMessage === true) yield* wrapped({ text: "" }, FROM_MESSAGE, terminal);
  } else if (change.isLater === true) {
    yield* wrapped(
      { text: "" },
      `it contains the work of ${commits.map(({ commit }) => shortId(commit)).join(", ")}`,
      terminal,
    );
  }
  yield "";
  if (total === undefined) {
    yield* wrapped({ text: "" }, nothingText(report), terminal);
    return;
  }
  yield* usageTable(["session"], rows, rows.length > 1 ? total : undefined, terminal, titles);
  if (models.length > 1) {
    yield "";
    yield* usageTable(["model"], models, undefined, terminal);
  }
  yield "";
  const notes = notesOf(report);
  const isUnchecked = commits.some(({ outcome }) => outcome === undefined);
  for (const note of isUnchecked ? [...notes, `${suggest("outcomes")} checks what became of commits`] : notes)
    yield* wrapped({ text: "" }, note, terminal);
}

/** What each kind of change is called. */
export const KINDS = {
  commit: "commit",
  pull_request: "pull request",
  ticket: "ticket",
  branch: "branch",
} as const satisfies Record<NamedChange["kind"], string>;

/** The digits of a commit that are shown. */
export const shortId = (commit: string): string => commit.slice(0, COMMIT_LENGTH);

/** `280cbf6a6c, merged as 5555555555 (squash); 3f2a1b9c0d, inferred, gone; 4 more`. */
export function commitTexts(commits: readonly KnownCommit[], limit: number): string {
  const shown = commits
    .slice(0, limit)
    .map(({ commit, certainty, outcome }) =>
      [shortId(commit), ...(certainty === "inferred" ? ["inferred"] : []), fateText(outcome)].join(", "),
    );
  const more = commits.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

/** What became of a commit: `merged as 3f2a1b9c0d (squash)`. */
function fateText(outcome: KnownCommit["outcome"]): string {
  if (outcome === undefined) return "not checked yet";
  const { fate, reason, rewritten, revertedBy, landingPull } = outcome;
  if (fate === "unknown") return reason === undefined ? "fate unknown" : `fate unknown: ${printable(reason)}`;
  const as = rewritten === undefined ? "" : ` as ${shortId(rewritten.by)} (${rewritten.how})`;
  const pull = landingPull === undefined ? "" : `, by a commit that names ${landingPull}`;
  return `${fate}${as}${revertedBy === undefined ? pull : ` by ${shortId(revertedBy)}`}`;
}

// --- internal ---

const MAX_COMMITS = 8;

const FROM_MESSAGE = "inferred from the messages of the commits that brought these to the default branch";

function headOf({ change, commits, total }: ChangeReport): readonly (readonly Piece[])[] {
  const { kind, name, url, repository, isLater } = change;
  const [only] = commits;
  const plain = (text: string): readonly Piece[] => [{ text: printable(text) }];
  const known = kind === "commit" ? only?.certainty : total?.certainty;
  const certainty = change.isFromMessage === true ? "inferred" : known;
  return [
    [{ text: printable(`${KINDS[kind]} ${kind === "commit" ? shortId(name) : name}`), style: "bold" }],
    ...(repository === undefined || (kind === "pull_request" && change.isFromMessage !== true)
      ? []
      : [plain(repository)]),
    ...(url === undefined ? [] : [plain(url)]),
    ...(certainty === undefined ? [] : [plain(certainty)]),
    ...(kind === "commit" && isLater !== true ? [plain(fateText(only?.outcome))] : []),
  ];
}

/** Why nothing counts for something that is known. */
function nothingText({ change: { kind } }: ChangeReport): string {
  if (kind === "commit") return "no work counts for this commit: the work of its session led to other commits";
  if (kind === "branch") return "no work counts for this branch: work on main, master, trunk and develop is no change";
  return `no work counts for this ${KINDS[kind]}: a session mentions it, but none is known to have worked on it`;
}

import PQueue from "p-queue";
import type { History } from "./history.ts";
import type { FoundOutcome } from "./kept.ts";
import { ASKED_AT_ONCE, type Objects } from "./objects.ts";
import { ticketsInTrailers, trailersOf } from "./trailers.ts";

/** What the messages of other commits say about one that is on the default branch. */
interface Landing {
  /** `#12`, `!12` */
  readonly pull?: string;
  /** In trailers of the commit that has its change now. */
  readonly tickets: readonly string[];
}

/**
 * Reads the messages of the commits that brought others to the default branch. A commit that is there as it was made says nothing about a
 * pull request: a number in its own title may be anything.
 *
 * @returns by commit, as in the outcomes
 */
export async function landingsOf(
  objects: Objects,
  history: History | undefined,
  outcomes: readonly FoundOutcome[],
  ticketPattern: string,
): Promise<ReadonlyMap<string, Landing>> {
  const messages = new Map<string, Promise<string>>();
  const messageOf = (commit: string): Promise<string> => {
    const message = messages.get(commit) ?? readMessage(objects, commit);
    messages.set(commit, message);
    return message;
  };
  const found = new Map<string, Landing>();
  async function find({ commit, landed, rewritten }: FoundOutcome): Promise<void> {
    if (landed === undefined) return;
    const how = rewritten?.how;
    const merge = history?.landingOf(landed) ?? landed;
    const ofMerge = merge === landed ? undefined : pullIn(await messageOf(merge));
    // Of a commit that only says that it has another one, the change may be different
    const message = how === undefined || how === "message" ? "" : await messageOf(landed);
    const pull = ofMerge ?? pullIn(message);
    const tickets = ticketsInTrailers(trailersOf(message), ticketPattern);
    found.set(commit, { tickets, ...(pull !== undefined && { pull }) });
  }
  await new PQueue({ concurrency: ASKED_AT_ONCE }).addAll(outcomes.map((outcome) => () => find(outcome)));
  return found;
}

/**
 * The pull request that platforms write into the commits that they make: GitHub `Title (#12)` and `Merge pull request #12 from …`, GitLab
 * `See merge request group/project!12`, Bitbucket `Merged in branch (pull request #12)`, Azure DevOps `Merged PR 12: title`.
 */
export function pullIn(message: string): string | undefined {
  const [title = ""] = message.split("\n", 1);
  const number = PULLS.map((pattern) => pattern.exec(title)?.[1]).find((one) => one !== undefined);
  if (number !== undefined) return `#${number}`;
  const request = MERGE_REQUEST.exec(message)?.[1];
  return request === undefined ? undefined : `!${request}`;
}

// --- internal ---

const MAX_COMMIT_BYTES = 1 << 20;

const PULLS: readonly RegExp[] = [
  /^Merge pull request #(\d{1,9}) from \S+$/,
  /^Merged in \S+ \(pull request #(\d{1,9})\)$/,
  /^Merged PR (\d{1,9}): /,
  /\S \(#(\d{1,9})\)$/,
];
const MERGE_REQUEST = /^See merge request (?:[\w./-]+)?!(\d{1,9})$/m;

async function readMessage(objects: Objects, commit: string): Promise<string> {
  const text = (await objects.read(commit, MAX_COMMIT_BYTES))?.bytes?.toString("utf8") ?? "";
  return text.slice(text.indexOf("\n\n") + 2).replaceAll("\r\n", "\n");
}

import { defined } from "#kit/objects.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asString } from "../shared/payload/json.ts";
import { factBase, type LineContext } from "./line-context.ts";

/** Reports the session facts of a line if they differ from the last ones. Lines of subagents have none. */
export function sessionFacts(context: LineContext): void {
  const { o, state, agentId, originalId, sink } = context;
  // Their digest would load node:crypto
  if (agentId !== undefined || sink.needsOnlyPrompts === true) return;
  const agentVersion = asString(o["version"]);
  const cwd = asString(o["cwd"]);
  const gitBranch = branchOf(o["gitBranch"]);
  const digest = digestOf(agentVersion, cwd, gitBranch);
  if (digest === state.facts) return;
  state.facts = digest;
  // A running program keeps its version
  const isOther = state.version !== undefined && agentVersion !== undefined && agentVersion !== state.version;
  if (isOther && originalId === undefined) {
    sink.other({ kind: "resumption", ...factBase(context, `resumption:${agentVersion}`) });
  }
  if (agentVersion !== undefined) state.version = agentVersion;
  const facts = { agentVersion, cwd, gitBranch, branches: "followed" as const };
  sink.other({ kind: "session", ...factBase(context, `session:${digest}`), ...facts });
}

// --- internal ---

/**
 * Claude Code reads HEAD itself, and writes `HEAD` while no branch is checked out. With reftable references HEAD is a stub that names the
 * branch `.invalid`, which git forbids.
 */
function branchOf(value: unknown): string | undefined {
  const branch = asString(value);
  return branch === "HEAD" || branch === ".invalid" || branch === "" ? undefined : branch;
}

// Facts rarely change from line to line, so the last ones are cached
let last: readonly (string | undefined)[] = [];
let lastDigest: string | undefined;
const digests = new Map<string, string>();
const MAX_DIGESTS = 256;

function digestOf(agentVersion: string | undefined, cwd: string | undefined, gitBranch: string | undefined): string {
  if (lastDigest !== undefined && agentVersion === last[0] && cwd === last[1] && gitBranch === last[2])
    return lastDigest;
  // JSON: a folder named undefined differs from no folder
  const text = JSON.stringify([agentVersion, cwd, gitBranch]);
  const digest = digests.get(text) ?? inputDigest(defined({ agentVersion, cwd, gitBranch })) ?? "{}";
  if (digests.size >= MAX_DIGESTS) digests.clear();
  digests.set(text, digest);
  last = [agentVersion, cwd, gitBranch];
  lastDigest = digest;
  return digest;
}

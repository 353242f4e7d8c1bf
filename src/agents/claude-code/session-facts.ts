import { defined } from "../../model/defined.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asString } from "../shared/payload/json.ts";
import { factBase, type LineContext } from "./line-context.ts";

/** Reports the session facts of a line if they differ from the last ones. Lines of subagents have none. */
export function sessionFacts(context: LineContext): void {
  const { o, state, agentId, originalId, sink } = context;
  if (agentId !== undefined) return;
  const agentVersion = asString(o["version"]);
  const cwd = asString(o["cwd"]);
  const branch = asString(o["gitBranch"]);
  // Claude Code reads HEAD itself. With reftable references HEAD is a stub that names this branch, which git forbids
  const gitBranch = branch === ".invalid" ? undefined : branch;
  const digest = digestOf(agentVersion, cwd, gitBranch);
  if (digest === state.facts) return;
  state.facts = digest;
  // A running program keeps its version
  const isOther = state.version !== undefined && agentVersion !== undefined && agentVersion !== state.version;
  if (isOther && originalId === undefined) {
    sink.other({ kind: "resumption", ...factBase(context, `resumption:${agentVersion}`) });
  }
  if (agentVersion !== undefined) state.version = agentVersion;
  sink.other({ kind: "session", ...factBase(context, `session:${digest}`), agentVersion, cwd, gitBranch });
}

// --- internal ---

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

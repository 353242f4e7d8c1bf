import * as z from "zod";
import { readRepository } from "#config/repository/read.ts";
import { UserError } from "#kit/errors.ts";
import { pullRequestOf } from "#show/report/find-change.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { dearest, FIGURES, type Fields, fieldsOf, first, listOf, pick } from "./mcp-answers.ts";
import { type Asking, documentOf } from "./mcp-ask.ts";
import { type Meant, meantSession } from "./mcp-session.ts";
import { placeIn, TOP, text, tool } from "./mcp-tool.ts";
import { namedChange } from "./named-change.ts";
import { explain } from "./read-one.ts";
import { showChange } from "./show-change.ts";

export const COST = tool({
  name: "cost",
  description:
    "Cost (USD at list price) and tokens of this session so far, or of the work on a branch or change (default: the branch checked out here; its pull request). null: unknown, never 0.",
  input: z.strictObject({
    of: z.enum(["session", "branch", "change"]).default("session"),
    name: text.describe("session id, branch, commit, #pull request or ticket"),
  }),
  async answer({ of, name }, asking, client) {
    if (of !== "session") return costOfChange(of, name, asking);
    const found = await explained(meantSession(name, client, asking), asking);
    if ("unknown" in found) return found.unknown;
    const { head, document } = found;
    const { totals, totals_with_children: family, unknown } = document;
    return {
      ...head,
      ...pick(totals, FIGURES),
      cache_write: fieldsOf(totals)["cache_write"] ?? null,
      with_child_sessions: family === null ? null : pick(family, FIGURES),
      unknown,
      price_table: document["price_table"],
    };
  },
});

export const BREAKDOWN = tool({
  name: "breakdown",
  description:
    "Where time and money of a session (default: this one) went: kinds of time, dearest turns, models, tools whose results were read, cache misses, slowest steps, findings.",
  input: z.strictObject({ session: text }),
  async answer({ session }, asking, client) {
    const found = await explained(meantSession(session, client, asking), asking);
    if ("unknown" in found) return found.unknown;
    const { head, document } = found;
    const { time, context, cache_misses: misses } = document;
    return {
      ...head,
      ...pick(document["totals"], FIGURES),
      time: time === null ? null : { ...pick(time, TIMES), tools: first(fieldsOf(time)["tools"], TOP, "name tool_ms") },
      turns: dearest(document["turns"], TOP, `turn ${SHARE}`),
      models: dearest(document["models"], TOP, `model ${SHARE}`),
      threads: dearest(document["threads"], TOP, `subagent type ${SHARE}`),
      after: dearest(document["after"], TOP, `after tool mcp_server ${SHARE}`),
      cache_misses: first(fieldsOf(misses)["causes"], TOP, "cause evidence calls tokens cost_usd"),
      largest_results: first(fieldsOf(context)["largest_results"], 3, "name mcp_server turn tokens"),
      slowest: first(document["slowest"], 3, "kind name ms turn"),
      findings: listOf(document["findings"]).map((finding) => fieldsOf(finding)["text"]),
      unknown: document["unknown"],
    };
  },
});

// --- internal ---

const SHARE = "cost_usd model_calls input output unpriced_calls";
const TIMES = "whole_ms model_ms tool_ms held_ms between_calls_ms user_ms closed_ms subagent_ms";

type Explained = { readonly head: Fields; readonly document: Fields } | { readonly unknown: Fields };

async function explained(meant: Meant, { context }: Asking): Promise<Explained> {
  if (meant.name === undefined) return { unknown: meant.unknown };
  const { name, known_by } = meant;
  const asked = { json: true, refresh: false };
  const document = fieldsOf(await documentOf(context, (quiet) => explain(name, asked, quiet)));
  const known = pick(document, "source session_id start last_activity on_subscription");
  return { head: { ...known, ...placeIn(document["repository"]), known_by }, document };
}

async function costOfChange(of: "branch" | "change", name: string | undefined, { context }: Asking): Promise<Fields> {
  const found = await namedChange(name ?? (await branchHere(context)), context);
  const meant =
    of === "branch" || found.kind !== "branch" ? found : withOpenStore(context, (db) => pullRequestOf(db, found));
  if (meant === undefined) {
    throw new UserError("E_CHANGE", `no pull request of branch "${found.name}" is known; ask for of: "branch"`);
  }
  const document = fieldsOf(await documentOf(context, (quiet) => showChange(meant, { json: true }, quiet)));
  const { total, sessions: all, commits } = document;
  return {
    ...pick(document, "kind name url repository certainty price_table"),
    ...(total === null
      ? { cost_usd: null, unknown: ["no session is known to have worked on it"] }
      : pick(total, `sessions ${FIGURES} tool_calls tool_errors`)),
    by_session: dearest(all, TOP, "session cost_usd"),
    commits: first(commits, TOP, "commit fate"),
    unpriced: first(document["unpriced"], TOP, "model calls reasons"),
  };
}

async function branchHere({ cwd, places }: Asking["context"]): Promise<string> {
  const branch = (await readRepository(cwd, places.home))?.branch;
  if (branch === undefined)
    throw new UserError("E_CHANGE", "no branch is checked out where this server runs; set name");
  return branch;
}

import type { Certainty } from "#core/model/changes.ts";
import type { ConfiguredAt } from "#core/model/configured.ts";
import { type Attribution, changeKeyOf, identityOf } from "./attribution.ts";
import { type bucketsOf, compareBuckets } from "./buckets.ts";
import {
  CHANGE_DIMENSIONS,
  type ChangeDimension,
  type Dimension,
  isOfTools,
  TIME_UNITS,
  type TimeUnit,
  type UsageQuery,
} from "./query.ts";
import {
  addTo,
  CALL_FIGURES,
  type CallFigures,
  type Fact,
  NO_RUNS,
  NO_TOOLS,
  NO_TURNS,
  NOTHING,
  RUN_FIGURES,
  type RunFigures,
  TOOL_FIGURES,
  type ToolFigures,
  TURN_FIGURES,
  type TurnFigures,
} from "./usage-facts.ts";
import type { CountedSession } from "./usage-sessions.ts";

/** Which parts the rows of a query have. */
export function partsOf(query: UsageQuery): Readonly<Record<Fact["kind"], boolean>> {
  const ofModels = groupsBy(query, "model") || query.model !== undefined;
  const hasAll = !ofModels && query.costOnly !== true;
  const ofSubagents = query.ofSubagents === true;
  const ofTools = isOfTools(query);
  return {
    calls: !ofTools,
    tools: hasAll && !ofSubagents,
    turns: hasAll && !ofTools && !ofSubagents,
    after: query.hasAfter === true,
    runs: ofSubagents && !ofModels,
  };
}

/** Whether a query groups by a dimension. */
export const groupsBy = ({ by }: UsageQuery, dimension: Dimension): boolean => by.includes(dimension);

export const isChangeDimension = (dimension: Dimension): dimension is ChangeDimension =>
  CHANGE_DIMENSIONS.some((known) => known === dimension);

/** Sums up the rows of one grouping. */
export class UsageTable {
  readonly #query: UsageQuery;
  readonly #nameOf: ReturnType<typeof bucketsOf>;
  readonly #rows = new Map<string, Row>();
  readonly parts: Readonly<Record<Fact["kind"], boolean>>;

  readonly #attribution: Attribution | undefined;

  /** @param attribution required for a grouping by commit, change, branch or ticket, and for `ledTo` */
  constructor(query: UsageQuery, nameOf: ReturnType<typeof bucketsOf>, attribution: Attribution | undefined) {
    this.#query = query;
    this.#nameOf = nameOf;
    this.#attribution = attribution;
    this.parts = partsOf(query);
  }

  /** @param roots of the sessions that the fact is summed over, if these are several */
  add(fact: Fact, session: CountedSession, roots?: readonly number[]): void {
    const { by, model, ledTo } = this.#query;
    if (!this.parts[fact.kind]) return;
    if (model !== undefined && fact.kind === "calls" && fact.model !== model) return;
    const isNeeded = ledTo !== undefined || by.some(isChangeDimension);
    const attributed = isNeeded ? this.#attribution?.at(session.root, fact.atMs ?? fact.timeMs) : undefined;
    const wanted = ledTo === undefined ? undefined : attributed?.[ledTo.dimension];
    if (ledTo !== undefined && (wanted === undefined || !ledTo.identities.has(identityOf(wanted)))) return;
    const values = by.map((dimension) =>
      isChangeDimension(dimension)
        ? changeKeyOf(dimension, attributed ?? {})
        : keyValue(dimension, fact, session, this.#nameOf),
    );
    const id = JSON.stringify(values);
    let row = this.#rows.get(id);
    if (row === undefined) {
      row = new Row(by, values, this.parts);
      this.#rows.set(id, row);
    }
    row.add(fact, session, roots);
    row.addCertainty(wanted?.certainty);
    for (const dimension of by) if (isChangeDimension(dimension)) row.addCertainty(attributed?.[dimension]?.certainty);
  }

  /** Whether a session counts from its start even without calls. Not for groupings by tool or for one model. */
  hasWithoutCalls({ isUsageUnknown }: CountedSession): boolean {
    const { ofSubagents, model } = this.#query;
    if (!this.parts.calls || ofSubagents === true || model !== undefined) return false;
    return !groupsBy(this.#query, "model") || isUsageUnknown;
  }

  done(): readonly UsageRow[] {
    const { by } = this.#query;
    return [...this.#rows.values()].map((row) => row.done()).sort((a, b) => compareKeys(by, a.key, b.key));
  }
}

/** The figures of one group. Parts that do not apply are absent: a tool has no tokens, a model no turns. */
export interface UsageRow {
  /** One value per dimension of the query; `null`: unknown. Sessions as `<source>/<id>`. */
  readonly key: Readonly<Partial<Record<Dimension, string | null>>>;
  /** Sessions with any of these figures; a subagent's session counts as its root. */
  readonly sessions: number;
  /** By the time they ended. Tokens and cost are absent where they were not reported. */
  readonly calls?: CallFigures;
  /** Of the calls: what vendors charged, in 10⁻⁹ of each agent's own unit, by agent. Absent: no call reports any. */
  readonly credits?: ReadonlyMap<string, number>;
  /** Turns with a prompt, by the time they started. */
  readonly turns?: TurnFigures;
  /** By the time they started. */
  readonly tools?: ToolFigures;
  /** Model calls that read results of these calls, as far as sessions were read; by the time they ended. */
  readonly after?: CallFigures;
  /** By the time they started. */
  readonly runs?: RunFigures;
  /** Of MCP servers and skills: the settings that have its name, as far as they are known. */
  readonly configured?: readonly ConfiguredAt[];
  /** Agents of sessions whose usage is unknown: the agent never reports tokens, or the transcript was never read. */
  readonly agentsWithoutUsage: readonly string[];
  readonly sessionsWithoutUsage: number;
  /** Of rows by commit, change, branch or ticket, and of what led to one of these: the lowest of what they contain. Absent for rows of none of these. */
  readonly certainty?: Certainty;
}

// --- internal ---

const isTime = (dimension: Dimension): dimension is TimeUnit => TIME_UNITS.some((unit) => unit === dimension);

function keyValue(
  dimension: Exclude<Dimension, ChangeDimension>,
  fact: Fact,
  session: CountedSession,
  nameOf: ReturnType<typeof bucketsOf>,
): string | null {
  switch (dimension) {
    case "agent":
      return session.agent;
    case "repository":
      return session.repository ?? null;
    case "config-folder":
      return session.configFolder ?? null;
    case "session":
      return session.name;
    case "model":
      return fact.kind === "calls" ? fact.model : null;
    case "tool":
      return fact.kind === "tools" || fact.kind === "after" ? fact.tool : null;
    case "mcp":
      return (fact.kind === "tools" || fact.kind === "after" ? fact.server : undefined) ?? null;
    case "skill":
      return (fact.kind === "tools" || fact.kind === "after" ? fact.skill : undefined) ?? null;
    case "subagent":
      return (fact.kind === "calls" || fact.kind === "runs" ? fact.subagent : undefined) ?? null;
    default:
      return nameOf(fact.timeMs, dimension);
  }
}

/** Sums up one row. */
class Row {
  readonly #key: UsageRow["key"];
  readonly #parts: Readonly<Record<Fact["kind"], boolean>>;
  readonly #sessions = new Set<number>();
  // Created on demand: few rows need these two, and there can be a million rows
  #unreported: Map<number, string> | undefined;
  #reported: Set<number> | undefined;
  readonly #calls: { -readonly [K in keyof CallFigures]: CallFigures[K] } = { ...NOTHING };
  #credits: Map<string, number> | undefined;
  readonly #tools = { ...NO_TOOLS };
  #certainty: Certainty | undefined;
  readonly #turns = { ...NO_TURNS };
  readonly #after: { -readonly [K in keyof CallFigures]: CallFigures[K] } = { ...NOTHING };
  readonly #runs = { ...NO_RUNS };

  constructor(by: readonly Dimension[], values: readonly (string | null)[], parts: Record<Fact["kind"], boolean>) {
    this.#key = Object.fromEntries(by.map((dimension, i) => [dimension, values[i] ?? null]));
    this.#parts = parts;
  }

  add(fact: Fact, { root, agent, isUsageUnknown }: CountedSession, roots: readonly number[] = [root]): void {
    for (const root of roots) this.#sessions.add(root);
    if (isUsageUnknown) {
      this.#unreported ??= new Map();
      this.#unreported.set(root, agent);
    }
    // The open part of the session reports tokens after all
    if (isUsageUnknown && fact.kind === "calls" && hasTokens(fact.figures)) {
      this.#reported ??= new Set();
      this.#reported.add(root);
    }
    if (fact.kind === "calls") {
      addTo(this.#calls, fact.figures, CALL_FIGURES);
      const { nanoCredits } = fact.figures;
      if (nanoCredits !== undefined) {
        this.#credits ??= new Map();
        this.#credits.set(agent, (this.#credits.get(agent) ?? 0) + nanoCredits);
      }
    } else if (fact.kind === "tools") addTo(this.#tools, fact.figures, TOOL_FIGURES);
    else if (fact.kind === "after") addTo(this.#after, fact.figures, CALL_FIGURES);
    else if (fact.kind === "runs") addTo(this.#runs, fact.figures, RUN_FIGURES);
    else addTo(this.#turns, fact.figures, TURN_FIGURES);
  }

  addCertainty(certainty: Certainty | undefined): void {
    if (certainty === "inferred" || this.#certainty === undefined) this.#certainty = certainty;
  }

  done(): UsageRow {
    const unreported = this.#parts.calls
      ? [...(this.#unreported ?? [])].filter(([root]) => this.#reported?.has(root) !== true)
      : [];
    return {
      key: this.#key,
      sessions: this.#sessions.size,
      ...(this.#parts.calls && { calls: this.#calls }),
      ...(this.#credits !== undefined && { credits: this.#credits }),
      ...(this.#parts.turns && { turns: this.#turns }),
      ...(this.#parts.tools && { tools: this.#tools }),
      ...(this.#parts.after && this.#key.mcp !== null && this.#key.skill !== null && { after: this.#after }),
      ...(this.#parts.runs && { runs: this.#runs }),
      agentsWithoutUsage: [...new Set(unreported.map(([, agent]) => agent))].sort(),
      sessionsWithoutUsage: unreported.length,
      ...(this.#certainty !== undefined && { certainty: this.#certainty }),
    };
  }
}

const hasTokens = ({ input, output }: CallFigures): boolean => input !== undefined || output !== undefined;

function compareKeys(by: readonly Dimension[], a: UsageRow["key"], b: UsageRow["key"]): number {
  for (const dimension of by) {
    const [x, y] = [a[dimension] ?? null, b[dimension] ?? null];
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    if (isTime(dimension)) return compareBuckets(x, y);
    return x < y ? -1 : 1;
  }
  return 0;
}

import { isoTime } from "#kit/text/figures.ts";
import type { Launch } from "#store/sessions/launch.ts";
import type { ChildSession, Family } from "./family.ts";
import { sessionName, sumsJson } from "./session-json.ts";

/** The members of `--json` that name the sessions above and below. Unknown is `null`. */
export const familyJson = ({ parent, children, withChildren }: Family) => ({
  parent: parent === undefined ? null : { ...sessionName(parent.launcher), ...launchJson(parent) },
  child_sessions: children.map(childJson),
  totals_with_children:
    withChildren === undefined
      ? null
      : { ...sumsJson(withChildren.sums), sessions_without_usage: withChildren.withoutUsage },
});

// --- internal ---

const launchJson = ({ call, knownBy }: Pick<Launch, "call" | "knownBy">) => ({
  /** How the link between the sessions is known, whichever call it was. */
  linked_by: knownBy,
  tool_call: call?.callId ?? null,
  known_by: call?.how ?? null,
});

interface ChildJson extends ReturnType<typeof sessionName>, ReturnType<typeof launchJson> {
  readonly start: string | null;
  readonly totals: ReturnType<typeof sumsJson>;
  readonly child_sessions: readonly ChildJson[];
}

const childJson = (child: ChildSession): ChildJson => ({
  ...sessionName(child.summary.stored),
  ...launchJson(child),
  start: isoTime(child.summary.segments[0]?.startMs ?? child.summary.stored.firstMs),
  totals: sumsJson(child.summary.sums, child.summary.facts),
  child_sessions: child.children.map(childJson),
});

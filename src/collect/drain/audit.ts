import { createHmac } from "node:crypto";
import type { AuditAction, AuditDraft, AuditNames, AuditTarget } from "#core/audit/record.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import type { SessionFacts, ToolCall } from "#core/model/session.ts";
import { keepsContent, keepsNames } from "#core/rules/capture.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { PENDING } from "#core/rules/keys.ts";
import { sourcesOf } from "#core/session/sources.ts";
import { mcpServerOf } from "#core/telemetry/spans.ts";
import { defined } from "#kit/objects.ts";
import { appendAudit } from "#store/audit.ts";
import { truncateContent } from "#store/capture/content.ts";
import type { CaptureContext } from "#store/capture/context.ts";
import { levelOf } from "#store/capture/level.ts";
import { AUDIT_PART, auditInputsOf, claimContent, putContent } from "#store/content.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type FoundTarget, targetsOf } from "./audit-targets.ts";
import type { Audit, SettledCalls } from "./context.ts";

/**
 * The audit trail of a drain: keeps what it needs of calls' arguments until they are settled, and then adds a record of each.
 *
 * @param key for digests; `undefined`: there are none
 * @param user attributes of the user, as configured
 */
export const auditOf = (
  drain: CaptureContext,
  key: Buffer | undefined,
  user: Readonly<Record<string, string>>,
): Audit => ({
  noteInputs: (session, updates) => noteInputs(drain, session, updates, key),
  append: (settled) => appendAudit(drain.db, draftsOf(drain, settled, { key, user }), drain.now()),
});

/** A digest that can be compared, and guessed only with the key. */
export const keyedDigest = (key: Buffer, text: string): string => createHmac("sha256", key).update(text).digest("hex");

// --- internal ---

/** What is stored until the call is settled. The texts are redacted, and only there if the level keeps content. */
interface StoredInput {
  readonly targets: readonly AuditTarget[];
  readonly texts?: readonly (string | null)[];
}

const NO_INPUT: StoredInput = { targets: [] };

interface Actor {
  readonly key: Buffer | undefined;
  readonly user: Readonly<Record<string, string>>;
}

function noteInputs(
  drain: CaptureContext,
  session: StoredSession,
  updates: readonly ContentUpdate[],
  key: Buffer | undefined,
): void {
  const level = levelOf(drain, session);
  if (!keepsNames(level)) return;
  for (const one of updates) {
    if ("claims" in one) {
      claimContent(drain.db, session.id, one.claims, one.fact);
      continue;
    }
    if (one.part !== "arguments") continue;
    const found = targetsOf(one.value, session.cwd);
    if (found.length === 0) continue;
    const text = JSON.stringify(inputOf(drain, found, key, keepsContent(level)));
    const content = { fact: one.fact, part: AUDIT_PART, piece: "", text, isJson: true } as const;
    putContent(drain.db, session.id, content, one.fact.startsWith(PENDING));
  }
}

/** Secrets are removed at every level. The digest is that of the redacted text, so nobody can guess a secret, even with the key. */
function inputOf(
  drain: CaptureContext,
  found: readonly FoundTarget[],
  key: Buffer | undefined,
  withTexts: boolean,
): StoredInput {
  const redacted = found.map(({ text }) => (text === undefined ? undefined : drain.redact(text)));
  const limits = { maxBytes: drain.loaded.config.captureMaxBytes };
  return {
    targets: found.map(({ text: _, ...target }, at) => {
      const clean = redacted[at];
      return { ...target, ...(key !== undefined && clean !== undefined && { digest: keyedDigest(key, clean) }) };
    }),
    ...(withTexts && { texts: redacted.map((text) => truncateContent(text, limits)?.text ?? null) }),
  };
}

/** One record per settled call, in the order of their starts. */
function draftsOf(drain: CaptureContext, settled: SettledCalls, actor: Actor): readonly AuditDraft[] {
  const { session, facts, events, entries, context, calls } = settled;
  if (calls.length === 0) return [];
  const level = levelOf(drain, session);
  const inputs = auditInputsOf(drain.db, session.id);
  const reportedBy = sourcesOf(events, entries, context, facts.hooksNameAgents).toolCalls;
  const modes = new Map(events.map((event) => [event.id, extrasOf(event).permission_mode]));
  return [...calls]
    .sort((a, b) => a.startMs - b.startMs || (a.callId < b.callId ? -1 : 1))
    .map((call): AuditDraft => {
      const from = reportedBy.get(call.callId) ?? [];
      const noted = from.map((fact) => inputs.get(fact)).findLast((text) => text !== undefined);
      const given = noted === undefined ? NO_INPUT : (JSON.parse(noted) as StoredInput);
      const withChanged = withFiles(drain, call, given, actor, level);
      const { targets, texts } = withRemote(drain, withChanged, facts.repository?.url, actor);
      const names = defined<AuditNames>({
        tool: call.name,
        mcpServer: mcpServerOf(call),
        repository: facts.repository?.url ?? facts.repository?.name,
        branch: facts.repository?.branch,
        folder: session.cwd && drain.redactName(session.cwd),
        user: Object.keys(actor.user).length === 0 ? undefined : actor.user,
        permissionMode: from.map((fact) => modes.get(fact)).find((mode) => mode !== undefined),
        targets: targets.length === 0 ? undefined : targets,
      });
      return {
        record: recordOf(facts, call, actionOf(call, targets)),
        ...(keepsNames(level) && { names }),
        ...(keepsContent(level) && texts?.some((text) => text !== null) && { texts }),
      };
    });
}

function recordOf(facts: SessionFacts, call: ToolCall, action: AuditAction): AuditDraft["record"] {
  const { native, status } = call;
  const decided = native?.decision === "deny" || status === "denied" ? "denied" : native?.decision;
  const hasRun = status === "success" || status === "error";
  return {
    action,
    time: new Date(call.startMs).toISOString(),
    agent: facts.source,
    agentVersion: facts.agentVersion ?? null,
    session: facts.sessionId,
    call: call.callId,
    ...(call.agentId !== undefined && { subagent: call.agentId }),
    // A call that ran was allowed, whoever decided it
    decision: decided === "denied" ? "denied" : decided === "allow" || hasRun ? "allowed" : null,
    decidedBy: native?.decidedBy ?? (native?.byUser === true ? "user" : null),
    outcome: status,
    ...(call.exitCode !== undefined && { exitCode: call.exitCode }),
    ...(call.endMs > call.startMs && { durationMs: Math.round(call.endMs - call.startMs) }),
  };
}

/** The files that the agent reported as changed are more exact than those in the arguments. */
function withFiles(
  drain: CaptureContext,
  call: ToolCall,
  input: StoredInput,
  { key }: Actor,
  level: Parameters<typeof keepsContent>[0],
): StoredInput {
  if (call.files === undefined) {
    const access = WRITES.test(call.name) ? "write" : "read";
    return { ...input, targets: input.targets.map((one) => (one.kind === "file" ? { access, ...one } : one)) };
  }
  const written = call.files.map(
    ({ path }): FoundTarget => ({ kind: "file", access: "write", known: "result", text: path }),
  );
  const files = inputOf(drain, written, key, keepsContent(level));
  const others = input.targets.flatMap((target, at) => (target.kind === "file" ? [] : [{ target, at }]));
  return {
    targets: [...others.map(({ target }) => target), ...files.targets],
    ...(files.texts !== undefined && {
      texts: [...others.map(({ at }) => input.texts?.[at] ?? null), ...files.texts],
    }),
  };
}

/** git worked with the repository's remote, whose address is not in the command. */
function withRemote(drain: CaptureContext, input: StoredInput, url: string | undefined, { key }: Actor): StoredInput {
  const at = input.targets.findIndex(({ known }) => known === "remote");
  if (at === -1) return input;
  const found =
    url === undefined ? undefined : inputOf(drain, [{ kind: "address", known: "remote", text: url }], key, true);
  const target = found?.targets[0];
  // Without a known remote nothing says where it went
  return {
    targets: target === undefined ? input.targets : input.targets.with(at, target),
    ...(input.texts !== undefined && { texts: input.texts.with(at, found?.texts?.[0] ?? null) }),
  };
}

const WRITES = /write|edit|create|patch|replace|insert|delete|remove|rename|move|save/i;
/** By the tool's name, for calls of which no target is known. Lists of tasks are no files. */
const BY_NAME: readonly (readonly [AuditAction, RegExp])[] = [
  ["command", /bash|shell|exec|terminal|command|^run/i],
  ["network", /web|fetch|http|browser/i],
  ["subagent", /^(?:task|agent|delegate|\w*subagents?|(?:\w+[._])?(?:spawn|invoke)(?:_agent)?)$/i],
  ["tool", /todo|task|plan|memory/i],
  ["file.write", WRITES],
  ["file.read", /read|view|^cat$|^open/i],
];

function actionOf(call: ToolCall, targets: readonly AuditTarget[]): AuditAction {
  if (mcpServerOf(call) !== undefined) return "mcp";
  if (call.spawnedAgentId !== undefined) return "subagent";
  if (targets.some(({ kind }) => kind === "command")) return "command";
  const file = targets.find(({ kind }) => kind === "file");
  if (file !== undefined) return file.access === "write" ? "file.write" : "file.read";
  if (targets.length > 0) return "network";
  return BY_NAME.find(([, name]) => name.test(call.name))?.[0] ?? "tool";
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PORT_TAKEN, RECEIVER_LIVE } from "#collect/intake/inbox-file.ts";
import { readForwardState, waitingBodies } from "#collect/native/forward-state.ts";
import { unreadableNative } from "#collect/native/pending.ts";
import { readReceiver, unreadableDir } from "#collect/native/receiver-file.ts";
import { suggest } from "#kit/suggest.ts";
import { localTime, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Examined } from "../facts/examined.ts";
import { alsoInStatus, type Finding, inArea, type Result } from "../finding.ts";

/** Agents' own telemetry: whether it can come, what could not be read, what is handed on. Nothing if no agent exports to us. */
export function* nativeFindings({ context, facts }: Pick<Examined, "context" | "facts">): Generator<Result> {
  const { ok, remark } = inArea("native");
  const { stateDir } = context.places;
  const receiver = readReceiver(stateDir);
  if (receiver !== undefined) {
    const on = `on 127.0.0.1:${receiver.port}`;
    const agents = receiver.agents.join(", ");
    const isTaken = liveText(stateDir) === PORT_TAKEN;
    const advice = `to use another port: ${suggest("disable --native")}, then ${suggest("enable --native")}`;
    if (isTaken)
      yield alsoInStatus(remark(`another program has the port of the receiver for ${agents} ${on}; ${advice}`));
    else yield ok(`agents' own telemetry is received ${on} from ${agents}; any of their events starts the receiver`);
  }
  const { joined, pending, unjoined, dropped: unneeded } = facts.native_records ?? NO_RECORDS;
  if (joined + pending + unjoined + unneeded > 0) {
    const text = `${joined} records joined, ${pending} not yet, ${unjoined} of no known part of a session, ${unneeded} not needed`;
    yield unjoined > 0 ? alsoInStatus(remark(`agents' own telemetry: ${text}`)) : ok(text);
  }
  const { total, kept } = unreadableNative(stateDir);
  if (total > 0) {
    const where = kept === 0 ? "" : `; ${kept} of them are in ${unreadableDir(stateDir)} with the reason`;
    yield alsoInStatus(remark(`${plural(total, "body", "bodies")} of agents' own telemetry could not be read${where}`));
  }
  const { sent, dropped, dropReason, pauses } = readForwardState(stateDir);
  const waiting = waitingBodies(stateDir).length;
  if (sent + dropped + waiting === 0) return;
  const bodies = plural(waiting, "body", "bodies");
  const paused = Object.entries(pauses);
  for (const [source, { untilMs, reason }] of paused) {
    const text = `${bodies} queued, ${source} is tried again after ${localTime(untilMs)}: ${printable(reason)}`;
    yield alsoInStatus(remark(`native.forward: ${text}`));
  }
  if (dropped > 0) {
    const text = `${plural(dropped, "body was", "bodies were")} dropped: ${printable(dropReason ?? "no reason recorded")}`;
    yield alsoInStatus(remark(`native.forward: ${text}`));
  }
  if (paused.length === 0) yield ok(`native.forward: ${sent} handed on, ${bodies} queued`);
}

/** What the agents' own OpenTelemetry doubles, and where it goes otherwise. */
export const exporterFindings = ({ facts }: Pick<Examined, "facts">): readonly Finding[] =>
  facts.native_exporters.map(({ title, text, todo }) => {
    const { ok, remark } = inArea(title);
    return todo === null ? ok(text) : remark(text, todo, `${title} ${text}; ${todo}`);
  });

// --- internal ---

const NO_RECORDS = { joined: 0, pending: 0, unjoined: 0, dropped: 0 };

function liveText(stateDir: string): string | undefined {
  try {
    return readFileSync(join(stateDir, RECEIVER_LIVE), "utf8").trim();
  } catch {
    return undefined;
  }
}

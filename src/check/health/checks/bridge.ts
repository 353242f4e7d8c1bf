import type { BridgeFile } from "#collect/bridge/report.ts";
import { failureText } from "#collect/bridge/text.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { asArgument, printable } from "#kit/text/terminal.ts";
import type { Examined } from "../facts/examined.ts";
import { inArea, onlyInStatus, type Result } from "../finding.ts";

/** Registration files: what runs, what does not run and why. Nothing if none was allowed and none applies here. */
export function* bridgeFindings({ bridge, context }: Examined): Generator<Result> {
  const { ok, remark } = inArea("bridge");
  for (const { path, state, problem, commands, allowedMs } of bridge) {
    const name = printable(path);
    const count = plural(commands.length, "command");
    const allow = suggest(`bridge allow ${asArgument(path)}`);
    const revoke = suggest(`bridge revoke ${asArgument(path)}`);
    switch (state) {
      case "new":
        yield ok(
          `${name} has ${count} for events of any agent; none runs before you allow it: ${suggest("bridge allow")}`,
        );
        break;
      case "changed":
        yield remark(
          `${name} has changed since it was allowed; nothing in it runs`,
          allow,
          `bridge: ${name} has changed, and its commands do not run: ${allow} shows it`,
        );
        break;
      case "gone":
        yield remark(`${name} was allowed and is gone`, revoke, `bridge: ${name} was allowed and is gone: ${revoke}`);
        break;
      case "refused":
        if (allowedMs === undefined) break;
        yield remark(
          `${name} is not used: ${problem}`,
          "then allow it again",
          `bridge: ${name} is not used: ${problem}`,
        );
        break;
      case "allowed":
        if (commands.every(({ stored }) => (stored?.failures ?? 0) === 0)) yield ok(`${name} is allowed, ${count}`);
        for (const command of commands) yield* commandFindings(command, name, context.now());
    }
  }
}

// --- internal ---

const SHOWN = 60;

/** A command of an allowed file that fails, or for which envelopes were dropped. */
function* commandFindings(
  { command, stored }: BridgeFile["commands"][number],
  file: string,
  nowMs: number,
): Generator<Result> {
  if (stored === undefined) return;
  const { failures, lastReason, queued, dropped } = stored;
  const begin = printable(command.split("\n")[0] ?? "").slice(0, SHOWN);
  if (failures > 0) {
    yield inArea("bridge").remark(
      `a command in ${file} failed ${plural(failures, "time")} in a row, ${plural(queued, "envelope")} queued: ${lastReason ?? null}`,
      `${suggest("bridge test")} shows what it prints: ${begin}`,
      `bridge: ${begin} in ${file} failed: ${failureText(stored, nowMs)}`,
    );
  }
  const lost = plural(dropped, "envelope was", "envelopes were");
  if (dropped > 0) yield onlyInStatus("remark", `bridge: ${lost} dropped for ${begin} in ${file}`);
}

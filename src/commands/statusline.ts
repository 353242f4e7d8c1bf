import { allAgents, findAgent } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { readFileIfAny, writeFileAtomic } from "#config/files.ts";
import { meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { statusLine } from "#show/statusline/line.ts";
import { limitsText, parseSummary, reportedLimitsPath, summaryPath } from "#show/statusline/summary.ts";

/**
 * `openhook-otel statusline`: one line for an agent, which puts JSON on stdin, or for shells and tmux. What `enable --statusline`
 * registers does the same without Node, except on Windows.
 *
 * @param agent its source; none: for shells and tmux
 * @param end further arguments; those from one that begins with `;` are ignored: cmd.exe passes the rest of the registered line as
 *        arguments, see `windowsLine`
 * @returns exit code: 0, also when no figures are known yet
 * @throws UserError for an unknown agent or an argument
 */
export async function statusline(
  agent: string | undefined,
  end: readonly string[],
  { places, stdin, stdout, stderr, now }: Context,
): Promise<number> {
  const [surplus] = end;
  if (surplus?.startsWith(";") === false) {
    throw new UserError("E_USAGE", `too many arguments for 'statusline': ${JSON.stringify(surplus)}`);
  }
  if (agent !== undefined && (await findAgent(agent)) === undefined) {
    const hint = meantAgent(agent, await allAgents());
    throw new UserError("E_AGENT", `unknown agent ${JSON.stringify(agent)}${hint}; ${suggest("status")} lists them`);
  }
  const asking = agent === undefined ? undefined : { agent, input: stdin.isTTY === true ? "" : await textOf(stdin) };
  const text = await readFileIfAny(summaryPath(places.stateDir));
  if (text === undefined)
    stderr.write(`no figures are collected for status lines yet: run ${suggest("enable --statusline")}\n`);
  const summary = parseSummary(text?.toString() ?? "");
  const { line, limits } = statusLine(asking, summary, now());
  stdout.write(`${line}\n`);
  if (agent !== undefined && limits.length > 0 && summary !== undefined) {
    const path = reportedLimitsPath(places.stateDir, agent);
    const next = limitsText(limits);
    // A state directory that cannot be written must not hide the line
    if ((await readFileIfAny(path))?.toString() !== next) await writeFileAtomic(path, next).catch(() => {});
  }
  return 0;
}

// --- internal ---

async function textOf(stdin: Context["stdin"]): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array | string));
  return Buffer.concat(parts).toString("utf8");
}

import { readFileIfAny, writeFileAtomic } from "../config/files.ts";
import { type Context, UserError } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { limitsText, reportedLimitsPath } from "../statusline/limits.ts";
import { statusLine } from "../statusline/line.ts";
import { parseSummary, summaryPath } from "../statusline/summary.ts";

export interface StatusLineOptions {
  /** Do not read stdin. */
  readonly plain: boolean;
  /** For cmd.exe the end of the registered line is arguments, see `windowsLine`. */
  readonly end: readonly string[];
}

/**
 * `openhook-otel statusline`: one line for Claude Code, which puts JSON on stdin, or for shells and tmux. What `enable --statusline`
 * registers does the same without Node, except on Windows.
 *
 * @returns exit code: 0, also when no figures are known yet
 * @throws UserError for an argument
 */
export async function statusline(options: StatusLineOptions, context: Context): Promise<number> {
  const [first] = options.end;
  if (first !== undefined && !first.startsWith(";")) {
    throw new UserError("E_USAGE", `too many arguments for 'statusline': ${JSON.stringify(first)}`);
  }
  const { places, stdin, stdout, stderr } = context;
  const isRead = !options.plain && stdin.isTTY !== true;
  const input = isRead ? await textOf(stdin) : "";
  const path = summaryPath(places.stateDir);
  const text = await readFileIfAny(path);
  if (text === undefined && input === "") stderr.write(`no status line is set up: ${suggest("enable --statusline")}\n`);
  const summary = parseSummary(text?.toString() ?? "");
  const { line, limits } = statusLine(input === "" ? undefined : input, summary, context.now());
  stdout.write(`${line}\n`);
  if (limits.length > 0 && summary !== undefined) {
    const limitsPath = reportedLimitsPath(places.stateDir);
    const next = limitsText(limits);
    // A state directory that cannot be written must not hide the line
    if ((await readFileIfAny(limitsPath))?.toString() !== next) await writeFileAtomic(limitsPath, next).catch(() => {});
  }
  return 0;
}

// --- internal ---

async function textOf(stdin: Context["stdin"]): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array | string));
  return Buffer.concat(parts).toString("utf8");
}

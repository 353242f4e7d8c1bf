import { createHash } from "node:crypto";
import { join } from "node:path";
import { readFileIfAny, refuseOdd, writeFileAtomic } from "#config/files.ts";
import { HEADER_NAME, HEADER_VALUE, type HeaderReader, type Headers, HeadersError } from "#config/headers.ts";
import { messageOf } from "#kit/errors.ts";
import { readOwn } from "#kit/own-file.ts";
import { suggest } from "#kit/suggest.ts";
import { systemEnvironment } from "./environment.ts";
import { runCommand } from "./run-command.ts";

/** Where the program runs, as in `Context`. */
interface ReaderPlaces {
  readonly home: string;
  readonly stateDir: string;
}

/**
 * Reads the headers that `otlp.headersFile` and `otlp.headersCommand` provide. A command runs in the user's home with an environment
 * that no repository can change; its output is neither logged nor quoted. What it printed is used again, by later drains too, until
 * it expires or the backend refuses it. It is kept in a file of the state directory that only this user can read; fixed headers are in
 * the configuration in the same way.
 *
 * The reader throws HeadersError that names the setting. A command that failed is not run again: the other signal would wait for it too.
 */
export function headerReader(
  { home, stateDir }: ReaderPlaces,
  platform: NodeJS.Platform,
  now: () => number,
): HeaderReader {
  const cachePath = join(stateDir, "headers.json");
  const failures = new Map<string, unknown>();

  const fromCommand = async (command: string, isRefused: boolean): Promise<Headers> => {
    const kept = readKept(cachePath);
    const key = createHash("sha256").update(command).digest("hex");
    const entry = kept[key];
    if (!isRefused && entry !== undefined && now() < entry.untilMs && entry.sinceMs <= now()) return entry.headers;
    if (failures.has(command)) throw failures.get(command);
    const headers = await run(command, home, platform).catch((error: unknown) => {
      failures.set(command, error);
      throw error;
    });
    const others = Object.entries(kept).filter(([, { untilMs }]) => now() < untilMs);
    const made = { headers, sinceMs: now(), untilMs: expiryOf(headers, now()) };
    const entries = JSON.stringify({ ...Object.fromEntries(others), [key]: made });
    // Without the file the command runs again in the next drain
    await writeFileAtomic(cachePath, `${entries}\n`, { mode: 0o600, forceMode: true }).catch(() => {});
    return headers;
  };

  return async ({ headersFile, headersCommand }, isRefused) => ({
    ...(headersFile !== undefined && (await fromFile(headersFile))),
    ...(headersCommand !== undefined && (await fromCommand(headersCommand, isRefused))),
  });
}

/**
 * Parses headers: a JSON object of strings, as helpers of other programs print it.
 *
 * @param canBeLines also one `name: value` per line, as in `curl --header @file`
 * @returns `problem`: the end of a sentence, without any part of the text
 */
export function parseHeaders(
  text: string,
  { canBeLines }: { readonly canBeLines: boolean },
): { readonly headers: Headers; readonly problem?: string } {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return { headers: {}, problem: "is empty" };
  const pairs = trimmed.startsWith("{") || !canBeLines ? fromJson(trimmed) : fromLines(trimmed);
  if (pairs === undefined) return { headers: {}, problem: "is not a JSON object of strings" };
  for (const [i, [name, value]] of pairs.entries()) {
    const at = `in header ${i + 1}`;
    if (!HEADER_NAME.test(name)) return { headers: {}, problem: `has a name that HTTP does not allow ${at}` };
    if (!HEADER_VALUE.test(value)) return { headers: {}, problem: `has a line break or control character ${at}` };
  }
  return { headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])) };
}

/**
 * How long headers are used, in milliseconds since the epoch: until shortly before the first token in them that names its end (`exp`
 * of a JWT), at most a day; otherwise a quarter of an hour, which is far below the life of usual tokens.
 */
export function expiryOf(headers: Headers, nowMs: number): number {
  const ends = Object.values(headers).flatMap((value) => value.split(/\s+/).flatMap((word) => endOf(word) ?? []));
  return ends.length === 0 ? nowMs + UNKNOWN_MS : Math.min(...ends.map((ms) => ms - EARLY_MS), nowMs + LONGEST_MS);
}

// --- internal ---

/** Long enough for a login program with a slow network; a drain waits for it. */
const TIMEOUT_MS = 10_000;
const MAX_FILE_BYTES = 64 * 1024;
const FORM = 'a JSON object of strings: {"authorization": "Bearer …"}';

/** What a command printed, by the command's digest. */
type Kept = Readonly<Record<string, { readonly headers: Headers; readonly sinceMs: number; readonly untilMs: number }>>;

/** @returns nothing if there is no such file, or it is damaged: the command runs again */
function readKept(path: string): Kept {
  try {
    const entries = Object.entries(JSON.parse(readOwn(path).toString()) as Kept);
    return Object.fromEntries(entries.filter(([, { headers, untilMs }]) => typeof headers === "object" && untilMs > 0));
  } catch {
    return {};
  }
}

async function fromFile(path: string): Promise<Headers> {
  const shown = JSON.stringify(path);
  const failed = (why: string, remedy = "write the file, or correct the setting"): HeadersError =>
    new HeadersError(`otlp.headersFile: ${why}`, remedy);
  const bytes = await refuseOdd(path)
    .then(() => readFileIfAny(path))
    .catch((error: unknown) => {
      throw failed(messageOf(error));
    });
  if (bytes === undefined) throw failed(`there is no file ${shown}`);
  if (bytes.length > MAX_FILE_BYTES) throw failed(`${shown} is larger than ${MAX_FILE_BYTES} bytes`);
  const { headers, problem } = parseHeaders(bytes.toString(), { canBeLines: true });
  if (problem !== undefined)
    throw failed(`${shown} ${problem}`, `it must contain ${FORM}, or one name: value per line`);
  return headers;
}

async function run(command: string, home: string, platform: NodeJS.Platform): Promise<Headers> {
  let output = "";
  const failure = await runCommand({
    command,
    folder: home,
    env: systemEnvironment(home, platform),
    input: "",
    timeoutMs: TIMEOUT_MS,
    platform,
    onOutput: (text, isError) => {
      if (!isError) output += text;
    },
  });
  const failed = (why: string, remedy: string): HeadersError => new HeadersError(`otlp.headersCommand: ${why}`, remedy);
  if (failure !== undefined)
    throw failed(
      failure,
      `run the command by hand (${suggest("config get otlp.headersCommand")} shows it); it must end within 10 s, and its PATH has only the system's folders`,
    );
  const { headers, problem } = parseHeaders(output, { canBeLines: false });
  if (problem !== undefined) throw failed(`its output ${problem}`, `it must print ${FORM}`);
  return headers;
}

type Pairs = readonly (readonly [name: string, value: string])[];

function fromJson(text: string): Pairs | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const pairs = Object.entries(value);
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === "string") ? pairs : undefined;
  } catch {
    return undefined;
  }
}

const fromLines = (text: string): Pairs =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()];
    });

const UNKNOWN_MS = 15 * 60_000;
const LONGEST_MS = 86_400_000;
/** A request takes time, and clocks differ. */
const EARLY_MS = 60_000;

/** RFC 7519: the second part of a JWT is JSON, `exp` is in seconds. */
function endOf(word: string): number | undefined {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(word)?.[1];
  if (payload === undefined) return undefined;
  try {
    const exp: unknown = JSON.parse(Buffer.from(payload, "base64url").toString())?.exp;
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

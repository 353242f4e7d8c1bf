import { spawn } from "node:child_process";
import { convertAll } from "#collect/convert/envelopes.ts";
import { payloadsOf } from "#collect/convert/input.ts";
import { discoveryIn, subscribed } from "#config/discovery.ts";
import type { Agent } from "#core/model/agent.ts";
import { ENVELOPE_TYPES, type EnvelopeText } from "#core/model/envelope-types.ts";
import { checkLine } from "./check-line.ts";
import { validate } from "./conformance.ts";
import type { Implementation, KitAnswer, KitCase } from "./kit.ts";

/** This program, without a process for each case. */
export const ourImplementation =
  (agents: readonly Agent[], text: EnvelopeText, now: () => number): Implementation =>
  async (kitCase) => {
    const answer = answerTo(kitCase, agents, text, now);
    return answer === undefined ? { stdout: "", code: 1 } : { stdout: answer, code: 0 };
  };

/**
 * A command that a shell runs once for each case: the input on stdin, the answer on stdout. `OPENHOOK_CASE`, `OPENHOOK_SOURCE` and
 * `OPENHOOK_EVENT` name the kind of case, the agent and the event.
 */
export const commandImplementation =
  (command: string, env: Readonly<Record<string, string | undefined>>, cwd: string): Implementation =>
  ({ kind, source = "", event = "", stdin }) =>
    new Promise<KitAnswer>((done) => {
      const child = spawn(command, {
        shell: true,
        cwd,
        env: { ...env, OPENHOOK_CASE: kind, OPENHOOK_SOURCE: source, OPENHOOK_EVENT: event },
        stdio: ["pipe", "pipe", "pipe"],
        timeout: TIME_LIMIT_MS,
        killSignal: "SIGKILL",
      });
      let stdout = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk: string) => {
        if (stdout.length < MAX_OUTPUT) stdout += chunk;
      });
      let stderr = "";
      child.stderr.setEncoding("utf8");
      child.stderr.on("data", (chunk: string) => {
        stderr = (stderr + chunk).slice(-MAX_COMPLAINT);
      });
      // It may exit without reading its input
      child.stdin.on("error", () => {});
      child.on("error", ({ message }) => done({ stdout: "", code: undefined, complaint: message }));
      child.on("close", (code) => {
        const complaint = stderr.trim().split("\n").at(-1);
        done({ stdout, code: code ?? undefined, ...(complaint && { complaint }) });
      });
      child.stdin.end(stdin);
    });

// --- internal ---

const TIME_LIMIT_MS = 30_000;
const MAX_OUTPUT = 10_000_000;
const MAX_COMPLAINT = 300;

function answerTo(
  { kind, stdin, source, event }: KitCase,
  agents: readonly Agent[],
  text: EnvelopeText,
  now: () => number,
): string | undefined {
  switch (kind) {
    case "convert": {
      const named = { ...(source !== undefined && { source }), ...(event !== undefined && { event }) };
      const { envelopes, problems } = convertAll(payloadsOf(Buffer.from(stdin), named, now), agents, text);
      return problems.length > 0 ? undefined : envelopes.map((envelope) => JSON.stringify(envelope)).join("\n");
    }
    case "validate":
      return JSON.stringify({ texts: checkLine(stdin).texts });
    case "session": {
      const { lines, registration } = JSON.parse(stdin) as { lines: readonly unknown[]; registration?: unknown };
      const found = registration === undefined ? undefined : discoveryIn(JSON.stringify(registration));
      const stream = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
      const { sources } = validate(stream, typeof found === "object" ? found : undefined);
      return JSON.stringify(Object.fromEntries((sources[0]?.texts ?? []).map((report) => [report.text, report.level])));
    }
    case "discover": {
      const found = discoveryIn(stdin);
      if (typeof found === "string") return undefined;
      const types = subscribed(found);
      return JSON.stringify(ENVELOPE_TYPES.filter((type) => types.has(type)));
    }
    default:
      return kind satisfies never;
  }
}

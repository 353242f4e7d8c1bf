import type { Readable } from "node:stream";
import type { PayloadPlace } from "./hook-options.ts";
import { FIRST_BYTE_TIMEOUT_MS, type PayloadEnd, READ_TIMEOUT_MS } from "./inbox-file.ts";

export type Stdin = Readable & { readonly isTTY?: boolean | undefined };

/** A payload in pieces, and how reading it ended. */
interface ReadPayload {
  readonly chunks: readonly Buffer[];
  readonly end: PayloadEnd;
}

/**
 * Reads the payload. Some hosts put it into USER_PROMPT and leave stdin open without writing to it: then USER_PROMPT is used.
 *
 * @param maxBytes the payload is cut there
 * @returns after at most READ_TIMEOUT_MS; no chunks if there is no payload
 */
export async function readPayload(
  place: PayloadPlace,
  { stdin, env }: { readonly stdin: Stdin; readonly env: Readonly<Record<string, string | undefined>> },
  maxBytes: number,
): Promise<ReadPayload> {
  if (place.in === "argument") return bounded(place.text, maxBytes);
  const prompt = env["USER_PROMPT"];
  if (place.in === "variable") return bounded(prompt ?? "", maxBytes);
  const isJson = prompt?.startsWith("{") === true;
  const firstByteMs = isJson ? FIRST_BYTE_TIMEOUT_MS.json : prompt === "" ? FIRST_BYTE_TIMEOUT_MS.empty : undefined;
  const read = await readBounded(stdin, maxBytes, firstByteMs);
  return isJson && read.chunks.length === 0 ? bounded(prompt, maxBytes) : read;
}

// --- internal ---

function bounded(text: string, maxBytes: number): ReadPayload {
  const bytes = Buffer.from(text);
  return { chunks: [bytes.subarray(0, maxBytes)], end: bytes.length > maxBytes ? "cut" : "whole" };
}

/** Reads to the end, the limit or the time-out. Beyond the limit it reads and discards, so that the agent gets no broken pipe. */
function readBounded(stdin: Stdin, maxBytes: number, firstByteMs = READ_TIMEOUT_MS): Promise<ReadPayload> {
  if (stdin.isTTY === true) return Promise.resolve({ chunks: [], end: "whole" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let cut = false;
    const timer = setTimeout(() => finish("late"), READ_TIMEOUT_MS);
    const firstTimer = setTimeout(() => bytes === 0 && finish("late"), firstByteMs);
    const finish = (end: PayloadEnd) => {
      clearTimeout(timer);
      clearTimeout(firstTimer);
      stdin.removeAllListeners("data");
      stdin.destroy();
      resolve({ chunks, end: cut ? "cut" : end });
    };
    stdin.on("error", () => finish("whole"));
    stdin.on("end", () => finish("whole"));
    stdin.on("close", () => finish("whole"));
    stdin.on("data", (data: Buffer | string) => {
      const chunk = typeof data === "string" ? Buffer.from(data) : data;
      const kept = chunk.subarray(0, maxBytes - bytes);
      if (kept.length > 0) chunks.push(kept);
      bytes += kept.length;
      cut ||= kept.length < chunk.length;
    });
  });
}

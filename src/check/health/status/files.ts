import { constants } from "node:fs";
import { access, open } from "node:fs/promises";

/** Whether this access to a path is allowed; `mode` is a constant of node:fs. */
export const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** The beginning of a file; empty if it cannot be read. */
export const firstBytes = (path: string, bytes: number): Promise<string> => readPart(path, () => 0, bytes);

/** A part of a file as text; empty if it cannot be read. `from` gets the size. */
export async function readPart(path: string, from: (size: number) => number, bytes: number): Promise<string> {
  // A pipe must not block
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, from(size));
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await handle.close();
  }
}

/** `undefined` for invalid JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

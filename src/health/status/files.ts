import { access, open } from "node:fs/promises";

/** Whether we may do this with a path; `mode` of node:fs constants. */
export const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** The beginning of a file; empty when it cannot be read. */
export const firstBytes = (path: string, bytes: number): Promise<string> => readPart(path, () => 0, bytes);

/** A stretch of a file as text; empty when it cannot be read. `from` is told the size. */
export async function readPart(path: string, from: (size: number) => number, bytes: number): Promise<string> {
  const handle = await open(path, "r").catch(() => undefined);
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

/** `undefined` for what is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

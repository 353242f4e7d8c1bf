import * as z from "zod";

const Line = z.object({
  generation: z.number(),
  after: z.number(),
  atMs: z.number(),
  isComplete: z.boolean(),
  unwritten: z.number(),
  isPartial: z.boolean().optional(),
  counted: z.string().regex(/^(?:[0-9a-f]{13})*$/),
});

/** A line of `delivered.log`; `undefined` if it is torn. */
export function deliveredLine(text: string): z.infer<typeof Line> | undefined {
  try {
    return Line.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

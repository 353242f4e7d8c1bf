import * as z from "zod";

const PutBackNote = z.object({
  atMs: z.number(),
  storeMs: z.number().optional(),
  deliveredMs: z.number().optional(),
  hasGap: z.boolean(),
});

/** A stored note about a store that was put back; `undefined` if it has another shape. */
export function putBackNote(value: unknown): z.infer<typeof PutBackNote> | undefined {
  return PutBackNote.safeParse(value).data;
}

import * as z from "zod";

const Consents = z.object({
  allowed: z.array(
    z.object({
      path: z.string(),
      digest: z.string(),
      owner: z.int().optional(),
      atMs: z.number(),
      environment: z.record(z.string(), z.string()),
    }),
  ),
});

/** The content of the record of consents. @throws if it is damaged */
export function consentsIn(text: string): z.infer<typeof Consents>["allowed"] {
  return Consents.parse(JSON.parse(text)).allowed;
}

import { isCategory } from "../rules/names.ts";

/**
 * What hooks and transcript both report of one call: tool and input, or only the given id if there is one, because they may name a
 * tool differently.
 */
export const matchKeyOf = (
  name: string | undefined,
  digest: string | undefined,
  givenId: string | undefined,
): string =>
  givenId === undefined
    ? JSON.stringify([name === undefined || isCategory(name) ? "" : name, digest ?? ""])
    : JSON.stringify([givenId]);

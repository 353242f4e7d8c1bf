import type { SessionRow } from "../../wire/sessions.ts";

/** The repository of a session, or the name of its folder. */
export const placeOf = ({ repository, folder }: Pick<SessionRow, "repository" | "folder">): string =>
  repository ?? lastPart(folder) ?? "no folder";

// --- internal ---

const lastPart = (path: string | null): string | undefined => path?.split(/[/\\]/).findLast((part) => part !== "");

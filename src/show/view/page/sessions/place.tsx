import type { SessionRow } from "../../wire/documents.ts";
import { safeText } from "../text/safe-text.ts";

/** The repository of a session, or the name of its folder. */
export const placeOf = ({ repositoryName, folder }: Pick<SessionRow, "repositoryName" | "folder">): string =>
  repositoryName ?? lastPart(folder) ?? "no folder";

/** The branch that a session worked on, if it is known. */
export function Branch({ of: { repository } }: { of: Pick<SessionRow, "repository"> }) {
  return repository?.branch === undefined ? null : <span class="branch">{safeText(repository.branch)}</span>;
}

// --- internal ---

const lastPart = (path: string | null): string | undefined => path?.split(/[/\\]/).findLast((part) => part !== "");

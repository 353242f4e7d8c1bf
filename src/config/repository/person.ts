import { userInfo } from "node:os";
import { userGitSettings } from "./user-settings.ts";

/**
 * The user of this machine: `user.email` from the user's own git settings, and the operating system's user name. Not from a
 * repository, whose files others can write, nor from the environment, which the agent sets.
 *
 * @throws never
 */
export async function currentUser(home: string) {
  // As in git, the last value applies
  const email = (await userGitSettings(home)).findLast(
    ({ section, subsection, key, value }) =>
      section === "user" && subsection === undefined && key === "email" && value !== "",
  )?.value;
  const name = systemName();
  return {
    ...(email !== undefined && email.length <= MAX_CHARACTERS && { email }),
    ...(name !== undefined && { name }),
  };
}

// --- internal ---

/** The longest address that SMTP allows. */
const MAX_CHARACTERS = 254;

function systemName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name
    return undefined;
  }
}

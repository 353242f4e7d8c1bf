import { open, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";

/**
 * The user of this machine: `user.email` from the user's own git settings, and the operating system's user name. Not from a
 * repository, whose files others can write, nor from the environment, which the agent sets.
 *
 * @throws never
 */
export async function currentUser(home: string) {
  // As in git, ~/.gitconfig overrides ~/.config/git/config
  const [xdgEmail, homeEmail] = await Promise.all([
    emailIn(join(home, ".config", "git", "config")),
    emailIn(join(home, ".gitconfig")),
  ]);
  const email = homeEmail ?? xdgEmail;
  const name = systemName();
  return { ...(email !== undefined && { email }), ...(name !== undefined && { name }) };
}

// --- internal ---

const MAX_BYTES = 1 << 20;
/** The longest address that SMTP allows. */
const MAX_CHARACTERS = 254;

async function emailIn(path: string): Promise<string | undefined> {
  let section = "";
  let email: string | undefined;
  for (const line of (await readSmallFile(path)).split(/\r?\n/)) {
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"[^"]*")?\s*\]/.exec(line);
    if (header !== null) section = (header[1] ?? "").toLowerCase();
    const value = /^\s*email\s*=\s*"?([^"#;]*?)"?\s*(?:[#;].*)?$/i.exec(line.replace(/^\s*\[[^\]]*\]/, ""))?.[1];
    // As in git, the last value applies
    if (section === "user" && value !== undefined && value !== "") email = value;
  }
  return email === undefined || email.length > MAX_CHARACTERS ? undefined : email;
}

async function readSmallFile(path: string): Promise<string> {
  try {
    const kind = await stat(path);
    if (!kind.isFile() || kind.size > MAX_BYTES) return "";
    const file = await open(path);
    try {
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}

function systemName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name
    return undefined;
  }
}

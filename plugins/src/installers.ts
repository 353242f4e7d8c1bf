import { findAgent } from "#agents/registry.ts";
import type { Installer } from "#core/model/installer.ts";

/** An agent's installer. @throws for an agent without one */
export async function installerOf(source: string): Promise<Installer> {
  const installer = (await (await findAgent(source))?.installer?.())?.default;
  if (installer === undefined) throw new Error(`${source} has no installer`);
  return installer;
}

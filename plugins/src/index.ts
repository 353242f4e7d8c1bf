import { PLUGINS, type Plugin } from "./forms.ts";
import { installerOf } from "./installers.ts";

/** Everything that is generated: path below plugins/ → text. */
export async function generatedFiles(version: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, unknown> = {
    ".claude-plugin/marketplace.json": {
      name: "openhook-otel",
      owner: { name: "openhook-otel" },
      metadata: { description: DESCRIPTION, version },
      plugins: inMarketplace("claude"),
    },
    ".agents/plugins/marketplace.json": {
      name: "openhook-otel",
      plugins: inMarketplace("codex"),
    },
  };
  for (const plugin of PLUGINS) {
    const { manifest, hooks } = plugin;
    files[`${plugin.folder}/${manifest.path}`] = {
      name: plugin.name,
      version,
      description: DESCRIPTION,
      author: { name: "openhook-otel" },
      ...manifest.more,
    };
    files[`${plugin.folder}/${hooks.path}`] = hooks.of(await installerOf(plugin.source));
  }
  return Object.fromEntries(
    Object.entries(files).map(([path, value]) => [path, `${JSON.stringify(value, null, 2)}\n`]),
  );
}

// --- internal ---

/** In a manifest, for users. */
const DESCRIPTION = "Registers the hooks of openhook-otel: OpenTelemetry traces and metrics of sessions";

/** The plugins that a marketplace lists. Names differ, because one marketplace can have plugins of several agents. */
const inMarketplace = (marketplace: Plugin["marketplace"]) =>
  PLUGINS.filter((plugin) => plugin.marketplace === marketplace).map(({ name, folder }) =>
    marketplace === "codex"
      ? {
          name,
          source: { source: "local", path: `./${folder}` },
          policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
          category: "Developer Tools",
        }
      : { name, source: `./${folder}`, description: DESCRIPTION },
  );

import { once } from "node:events";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { targetOf } from "#setup/registration/settings.ts";
import { configuredNames } from "#show/report/configured.ts";
import { traceLinkOf } from "#show/view/deps.ts";
import { readPageFiles } from "#show/view/page-files.ts";
import { serveView, type ViewServer } from "#show/view/server.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { openInBrowser, tunnelText } from "./browser.ts";
import { contentReaders } from "./content.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { pageSearch } from "./page-search.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribedWithLimits } from "./subscribed.ts";
import { pageClock, promptReader, showsTitles, type TitlesOption } from "./titles.ts";
import { drainForPage } from "./view-drains.ts";

export interface ViewOptions extends RefreshOption, TitlesOption {
  /** 0: any free port. */
  readonly port: number;
  /** Open the page in the user's browser. */
  readonly open: boolean;
  /** Print the address and nothing else. */
  readonly printUrl: boolean;
  /** Holds `dist`. */
  readonly packageRoot: string;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
}

/**
 * `openhook-otel view`: serves the local page until it is stopped. While a page is open, a drain runs every two seconds.
 *
 * @returns exit code: 0
 * @throws UserError when it cannot listen on the port, or the page was not built
 */
export async function view(options: ViewOptions, context: Context): Promise<number> {
  const { behind, agents, loaded } = await refreshed(options, context);
  let known = await subscribedWithLimits(context, agents);
  const server = await served(options, {
    storePath: context.places.storePath,
    agents,
    settings: spanSettings({ loaded }),
    ...traceLinkOf(loaded.config),
    hosts: loaded.config.view.hosts,
    idleTimeoutMs: loaded.config.session.idleTimeoutMs,
    ...(showsTitles(options, loaded) && { promptLines: promptReader({ agents, loaded }, context, pageClock) }),
    ...contentReaders({ agents, loaded }, context),
    ...pageSearch({ agents, loaded }, context),
    files: pageFiles(options.packageRoot),
    noStoreMessage: () => noStoreMessage(context, behind),
    describeStoreError,
    subscriptions: () => known.subscriptions,
    limits: () => known.limits,
    servers: await configuredNames(agents, "mcp", targetOf(context)),
    budget: loaded.config.budget,
    drain: async () => {
      await drainForPage(context);
      known = await subscribedWithLimits(context, agents).catch(() => known);
    },
    now: context.now,
    log: (line) => context.stderr.write(`${line}\n`),
  });
  let removeFile = (): void => {};
  try {
    if (options.printUrl) context.stdout.write(`${server.link}\n`);
    else
      context.stdout.write(
        `Serving ${server.link}\nOnly this user on this machine can open it. Press Ctrl-C to stop.\n${tunnelText(server.link, context)}`,
      );
    if (options.open && !options.printUrl)
      removeFile = openInBrowser(
        server.onceLink(() => removeFile()),
        context,
      );
    if (!options.stop.aborted) await once(options.stop, "abort");
  } finally {
    removeFile();
    await server.close();
  }
  return 0;
}

// --- internal ---

async function served({ port }: ViewOptions, deps: Parameters<typeof serveView>[1]): Promise<ViewServer> {
  try {
    return await serveView(port, deps);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    const why = code === undefined ? undefined : WHY[code];
    if (why === undefined) throw error;
    throw new UserError("E_PORT", `cannot listen on 127.0.0.1:${port}: ${why}`, 1, { cause: error });
  }
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use; choose another, or omit --port to use any free one",
  EACCES: "permission denied; choose a port above 1023, or omit --port",
};

function pageFiles(packageRoot: string): ReturnType<typeof readPageFiles> {
  const folder = join(packageRoot, "dist", "view");
  try {
    return readPageFiles(folder);
  } catch (error) {
    throw new UserError("E_VIEW", `the page in ${JSON.stringify(folder)} cannot be read: run npm run build`, 1, {
      cause: error,
    });
  }
}

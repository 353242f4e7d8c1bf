import { type Command, Option } from "commander";
import { UserError } from "#kit/errors.ts";
import { GROUPS } from "./groups.ts";
import { refuseUnfit } from "./refuse-unfit.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that register the hook and check the installation. */
export function addAgentCommands(
  program: Command,
  { context, done, hookSource, packageRoot, interruption }: CommandSetup,
): void {
  const scope = () =>
    new Option(
      "--scope <scope>",
      "whose settings to change (default: user, or project if the agent has no user settings)",
    ).choices(["user", "project"]);

  program
    .command("start")
    .helpGroup(GROUPS.setUp)
    .description("set up everything: enable the agents found here, import past sessions, open the page")
    .argument("[agents...]", "enable only these, e.g. claude-code (default: choose from the agents found here)")
    .option("-y, --yes", "do not ask: enable all agents found here, import all past sessions", false)
    .option("--no-open", "do not open the page")
    .action(async (names: string[], options) => {
      const [{ start }, lookup] = await Promise.all([import("../set-up.ts"), agentLookup()]);
      await done(start(names, { ...options, hookSource, packageRoot, stop: interruption() }, context, lookup));
    });

  program
    .command("enable")
    .helpGroup(GROUPS.setUp)
    .description("register the hook with agents; their next session is recorded")
    .argument("[agents...]", "e.g. claude-code (default: choose from the agents found on this machine)")
    .addOption(scope())
    .option("-y, --yes", "do not ask; without agent names, enable all that are found", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .option("--full", "with --dry-run: also all lines of long files that are new or removed", false)
    .option("--statusline", "also show cost, context and limits in the agent's status line", false)
    .option("--native", "also receive the agent's own OpenTelemetry, and join it with its sessions", false)
    .option("--mcp", "also register the MCP server with which the agent can ask what its work costs", false)
    .option("--forward", "with --native: also if the agent exports elsewhere; that goes on unchanged", false)
    .option("--managed", "as root or administrator: for all users, in the agents' settings for administrators", false)
    .option("--print", "with --managed: print the files, e.g. for an MDM tool, and change nothing", false)
    .action(async (names: string[], { managed, print, native, mcp, forward, ...options }) => {
      refuseUnfit({ native, mcp, forward, ...options }, managed);
      const [{ enableAndOffer, enableManaged, enableBeside }, lookup] = await Promise.all([
        import("../set-up.ts"),
        agentLookup(),
      ]);
      if (managed) return done(enableManaged(names, { ...options, print, hookSource }, context, lookup));
      if (print) throw new UserError("E_USAGE", "--print shows the files of --managed; for your settings: --dry-run");
      const enabled = await enableAndOffer(names, { ...options, hookSource }, interruption, context, lookup);
      if (enabled !== 0) return done(Promise.resolve(enabled));
      await done(enableBeside(names, { native, mcp, forward, ...options }, context, lookup));
    });

  program
    .command("disable")
    .helpGroup(GROUPS.setUp)
    .description("remove the hook and restore the agents' settings")
    .argument("[agents...]", "e.g. claude-code (default: all enabled agents)")
    .addOption(scope())
    .option("-y, --yes", "do not ask, even if no agent is named", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .option("--full", "with --dry-run: also all lines of long files that are new or removed", false)
    .option("--everywhere", "also remove registrations of containers and machines that share these settings", false)
    .option("--native", "only the agent's own OpenTelemetry, which enable --native switched on; hooks stay", false)
    .option("--mcp", "only the MCP server, which enable --mcp registered; hooks stay", false)
    .option("--managed", "as root or administrator: what enable --managed registered for all users", false)
    .action(async (names: string[], { managed, native, mcp, ...options }) => {
      refuseUnfit({ native, mcp, ...options }, managed);
      const [setUp, lookup] = await Promise.all([import("../set-up.ts"), agentLookup()]);
      if (native || mcp) return done(setUp.disableBeside(names, { native, mcp, ...options }, context, lookup));
      if (managed) return done(setUp.disableManaged(names, options, context, lookup));
      await done(setUp.disable(names, options, context, lookup));
    });

  program
    .command("uninstall")
    .helpGroup(GROUPS.setUp)
    .description("remove everything that enable and wrap have set up on this machine; collected data stays")
    .option("--purge", "also remove all collected data and your settings", false)
    .option("-y, --yes", "do not ask", false)
    .option("--dry-run", "show what would be removed, without removing it", false)
    .action(async (options) => {
      const [{ uninstall }, lookup] = await Promise.all([import("../set-up.ts"), agentLookup()]);
      await done(uninstall(options, context, lookup));
    });

  program
    .command("status")
    .helpGroup(GROUPS.maintain)
    .description("show installed hooks, the queue and the last delivery")
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("../read-and-repair.ts")).status(options, context)));

  program
    .command("doctor")
    .helpGroup(GROUPS.maintain)
    .description("check everything from the agents to the backend, and show how to fix it")
    .option("--fix", "fix what is safe to fix", false)
    .option("--json", "print JSON", false)
    .action(async (options) => {
      const [{ doctor }, lookup] = await Promise.all([import("../read-and-repair.ts"), agentLookup()]);
      await done(doctor({ ...options, hookSource }, context, lookup));
    });
}

// --- internal ---

async function agentLookup() {
  const [{ allAgents }, { agentNamed }] = await Promise.all([
    import("#agents/registry.ts"),
    import("#core/rules/cards.ts"),
  ]);
  return { list: allAgents, find: async (name: string) => agentNamed(name, await allAgents()) };
}

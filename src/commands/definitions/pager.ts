import type { Command } from "commander";

/** Adds `--no-pager` to the commands whose output can be long. The program shows it in a pager, see `program.ts`. */
export function addPagerOption(program: Command): void {
  for (const path of LONG) {
    const command = path
      .split(" ")
      .reduce<Command | undefined>((of, name) => of?.commands.find((one) => one.name() === name), program);
    command?.option("--no-pager", "print long output without a pager");
  }
}

// --- internal ---

const LONG = ["sessions", "show", "report", "explain", "insights", "outcomes", "preview", "config show"];

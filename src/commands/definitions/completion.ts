import { Argument, type Command } from "commander";
import { suggest } from "#kit/suggest.ts";
import { GROUPS } from "./groups.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the command that prints a script for a shell, and the one that this script runs. */
export function addCompletionCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("completion")
    .helpGroup(GROUPS.setUp)
    .description("print a script with which your shell completes commands, options, agents, settings and sessions")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText("after", examples)
    .action(async (shell: string) => done((await import("../completion.ts")).completion(shell, context)));

  program
    .command("complete", { hidden: true })
    .argument("[words...]", "after --: the command line up to what is being typed")
    .action(async (words: string[]) => done((await import("../completion.ts")).complete(words, program, context)));
}

// --- internal ---

const examples = (): string => `
bash:        in ~/.bashrc: source <(${suggest("completion bash")})
zsh:         in ~/.zshrc, after compinit: source <(${suggest("completion zsh")})
fish:        in ~/.config/fish/config.fish: ${suggest("completion fish")} | source
PowerShell:  in $PROFILE: ${suggest("completion powershell")} | Out-String | Invoke-Expression`;

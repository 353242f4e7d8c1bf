/**
 * What a tool is called for people: `tracker: find_issue` for an MCP server's tool that its agent calls
 * `mcp__tracker__find_issue`, other names as they are. What follows the name, such as a command, stays.
 *
 * @param server the MCP server, if known: its name may contain `__`
 */
export function toolTitle(name: string, server?: string): string {
  if (server !== undefined) {
    for (const prefix of [`mcp__${server}__`, `${server}__`]) {
      if (name.startsWith(prefix) && name.length > prefix.length) return `${server}: ${name.slice(prefix.length)}`;
    }
  }
  return name.replace(/^mcp__(.+?)__(?=.)/, (_, named: string) => `${server ?? named}: `);
}

/** OpenTelemetry's names of providers, and the price table's ids where they differ. */
export const TABLE_IDS: ReadonlyMap<string, string> = new Map([
  ["aws.bedrock", "aws"],
  ["azure.ai.openai", "azure"],
  ["gcp.gemini", "google"],
  ["gcp.vertex_ai", "google"],
  ["mistral_ai", "mistral"],
  ["moonshot_ai", "moonshotai"],
  ["x_ai", "x-ai"],
]);

/** The ids of all providers in the price table, but for agents that sell models of others. A list of its own, because loading the table takes long; a test compares the two. */
export const PRICE_PROVIDERS: readonly string[] = `
  anthropic arcee avian aws azure baseten cerebras cloudflare cohere deepseek doubleword fireworks google groq huggingface_cerebras huggingface_fireworks-ai huggingface_groq huggingface_hyperbolic huggingface_nebius
  huggingface_novita huggingface_nscale huggingface_ovhcloud huggingface_publicai huggingface_sambanova
  huggingface_together minimax mistral modal moonshotai novita openai openrouter ovhcloud perplexity quicksilverpro
  together typesafe voyageai x-ai zai zhipuai
`
  .trim()
  .split(/\s+/);

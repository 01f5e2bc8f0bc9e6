import type { GuideFacts } from '../doc-page.ts'

/** `~/.codex/config.toml`. */
export function codexConfig({ origin, models }: GuideFacts): string {
  return `model = "${models.chat}"
model_provider = "catraca"

[model_providers.catraca]
name = "Catraca"
base_url = "${origin}/v1"
env_key = "CATRACA_API_KEY"
wire_api = "responses"`
}

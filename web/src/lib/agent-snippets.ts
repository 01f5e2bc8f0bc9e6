/** How agents are pointed at this server: one command each, or what to enter; what is shown is what is copied. */
export interface AgentSnippet {
  readonly id: string
  readonly text: string
  readonly code: string
  readonly copyLabel: string
}

interface Use {
  /** Without the version and without a trailing slash. */
  readonly origin: string
  /** The secret of a key, or a text in its place. */
  readonly secret: string
  readonly model: string
}

export function agentSnippets({ origin, secret, model }: Use): readonly AgentSnippet[] {
  return [
    {
      id: 'claude-code',
      text: 'Usar no Claude Code',
      copyLabel: 'Copiar o comando do Claude Code',
      code: `ANTHROPIC_BASE_URL=${origin} \\
ANTHROPIC_AUTH_TOKEN=${secret} \\
ANTHROPIC_MODEL=${model} \\
ANTHROPIC_DEFAULT_HAIKU_MODEL=${model} \\
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \\
claude`,
    },
    {
      id: 'codex',
      text: 'Usar no Codex',
      copyLabel: 'Copiar o comando do Codex',
      code: `CATRACA_API_KEY=${secret} codex -c model=${model} \\
  -c model_provider=catraca \\
  -c 'model_providers.catraca={name="Catraca",base_url="${origin}/v1",env_key="CATRACA_API_KEY",wire_api="responses"}'`,
    },
    {
      id: 'cursor',
      text: 'Usar no Cursor',
      copyLabel: 'Copiar os dados do Cursor',
      code: `# Cursor Settings → Models → API Keys
OpenAI API Key: ${secret}
Override OpenAI Base URL: ${origin}/v1
Add model: ${model}`,
    },
  ]
}

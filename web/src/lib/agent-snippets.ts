import { agentSamples, type CodeSample, type Use } from '../../../src/http/site/code-samples.ts'

interface AgentSnippet extends CodeSample {
  readonly copyLabel: string
}

/** How agents are pointed at this server. */
export function agentSnippets(use: Use): readonly AgentSnippet[] {
  return agentSamples(use).map((sample) => ({
    ...sample,
    client: `Usar no ${sample.client}`,
    copyLabel:
      sample.id === 'cursor' ? 'Copiar os dados do Cursor' : `Copiar o comando do ${sample.client}`,
  }))
}

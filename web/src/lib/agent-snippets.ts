import { agentSamples, type CodeSample, type Use } from '../../../src/site/pages/code-samples.ts'
import { t } from '../language/t.ts'

interface AgentSnippet extends CodeSample {
  readonly copyLabel: string
}

/** How agents are pointed at this server. */
export function agentSnippets(use: Use): readonly AgentSnippet[] {
  return agentSamples(use).map((sample) => ({
    ...sample,
    client: t('Usar no {client}', { client: sample.client }),
    copyLabel:
      sample.id === 'cursor'
        ? t('Copiar os dados do Cursor')
        : t('Copiar o comando do {client}', { client: sample.client }),
  }))
}

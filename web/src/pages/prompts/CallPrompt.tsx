import { Card } from '../../components/Card.tsx'
import { Notice } from '../../components/Notice.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { requestSnippets } from '../playground/request-snippets.ts'
import type { Prompt } from './prompt-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly prompt: Prompt
}

/** How a program calls the prompt as a model. */
export function CallPrompt({ prompt }: Props) {
  const model = `@preset/${prompt.slug}`
  const body = { model, messages: [{ role: 'user' as const, content: t('Olá!') }] }
  return (
    <Card
      title={t('Chamar pela API')}
      description={t(
        'Use {model} como modelo, em qualquer formato: o texto salvo vem antes das suas mensagens, com o modelo e os limites do prompt.',
        { model },
      )}
    >
      <div className="grid gap-4">
        {(prompt.default_model === null || prompt.variables.length > 0) && (
          <Notice tone="warning">
            {t('Para isso, o prompt precisa de um modelo padrão e não pode ter variáveis.')}
          </Notice>
        )}
        <SnippetTabs
          label={t('A chamada em código')}
          snippets={requestSnippets(`${window.location.origin}/v1`, body)}
        />
      </div>
    </Card>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef } from 'react'
import { chatSamples } from '../../../../src/site/pages/code-samples.ts'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { SnippetTabs } from '../../components/SnippetTabs.tsx'
import { agentSnippets } from '../../lib/agent-snippets.ts'
import { keyModelsQuery, type Model, type NewApiKey } from './key-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** Part of the page rather than a dialog, which a stray click would close: the secret is shown only once. */
export function KeySecret({
  made,
  whoseBalance = t('do seu saldo'),
  onDone,
}: {
  readonly made: NewApiKey
  readonly whoseBalance?: string
  readonly onDone: () => void
}) {
  const models = useQuery(keyModelsQuery)
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    heading.current?.scrollIntoView({ block: 'center' })
  }, [])
  const model = modelFor(made, models.data ?? [])
  const use = { origin: window.location.origin, secret: made.key, model: model?.id ?? '' }
  return (
    <section
      aria-labelledby={id}
      className="min-w-0 rounded-card border-2 border-accent bg-surface p-5 md:p-6"
    >
      <h2 id={id} ref={heading} tabIndex={-1} className="text-lg font-semibold outline-none">
        <Trans id="A chave “{name}” está pronta" values={{ name: made.name }} />
      </h2>
      <p className="mt-1 mb-4 text-sm text-muted">
        {made.scope === 'operator' ? (
          t(
            'Copie agora e guarde em lugar seguro: ela só aparece esta vez. Quem a tiver lê o que o seu papel lê.',
          )
        ) : (
          <Trans
            id="Copie agora e guarde em lugar seguro: ela só aparece esta vez. Quem a tiver gasta {whoseBalance}."
            values={{ whoseBalance }}
          />
        )}
      </p>
      <div className="flex flex-col gap-3 sm:flex-row sm:items-center">
        <code
          aria-label={t('A chave')}
          className="min-w-0 grow rounded-lg bg-sunken px-3 py-2.5 break-all select-all"
        >
          {made.key}
        </code>
        <CopyButton text={made.key} label={t('Copiar chave')} variant="primary" />
      </div>
      {model && (
        <>
          <SnippetTabs
            label={t('Exemplo de primeira chamada')}
            snippets={chatSamples(use)}
            className="mt-6"
          />
          <h3 className="mt-8 mb-2 font-semibold">{t('Em agentes')}</h3>
          <SnippetTabs label={t('Agentes')} snippets={agentSnippets(use)} />
        </>
      )}
      <Button variant="secondary" className="mt-6" onClick={onDone}>
        {t('Já guardei a chave')}
      </Button>
    </section>
  )
}

/** A chat model that the key may call. */
function modelFor({ model_ids }: NewApiKey, models: readonly Model[]): Model | undefined {
  const talking = models.filter(
    ({ id, category }) => category === 'llm' && (model_ids === null || model_ids.includes(id)),
  )
  return talking.find(({ id }) => id === 'gpt-4o-mini') ?? talking[0]
}

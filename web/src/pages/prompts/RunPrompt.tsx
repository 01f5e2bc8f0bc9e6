import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Disclosure } from '../../components/Disclosure.tsx'
import { Notice } from '../../components/Notice.tsx'
import { wayOut } from '../playground/explain-chat-error.ts'
import { payingKeysQuery } from '../playground/playground-queries.ts'
import { PromptText } from './PromptText.tsx'
import { PROMPTS, type Prompt, type RunInput } from './prompt-queries.ts'
import { explainRunError } from './prompt-words.ts'
import { RunFieldset } from './RunFieldset.tsx'
import { RunResult } from './RunResult.tsx'
import { NEW_RUN, readRun, type RunFaults, type RunFields } from './run-form.ts'
import { VariableFields } from './VariableFields.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly prompt: Prompt
  readonly isUnsaved: boolean
}

export function RunPrompt({ prompt, isUnsaved }: Props) {
  const keys = useQuery(payingKeysQuery)
  const [typed, setTyped] = useState<RunFields>(NEW_RUN)
  const [faults, setFaults] = useState<RunFaults>({})
  const run = useRun(prompt)
  // A single key needs no choice, unless it pays with a team's money.
  const [onlyKey, ...others] = keys.data ?? []
  const isChosen = onlyKey?.team_id === null && others.length === 0
  const fields = typed.keyId === '' && isChosen ? { ...typed, keyId: onlyKey.id } : typed
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // On a phone the result is below the form.
    if (run.isPending || run.isSuccess) result.current?.scrollIntoView({ block: 'nearest' })
  }, [run.isPending, run.isSuccess])
  const submit = (): void => {
    const read = readRun(fields, prompt)
    setFaults('faults' in read ? read.faults : {})
    if ('input' in read && !run.isPending) run.mutate(read.input)
  }
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card
        title={t('Executar')}
        description={t('Usa a versão {version} e é cobrada do seu saldo como qualquer chamada.', {
          version: prompt.version,
        })}
      >
        <form
          noValidate
          className="grid gap-5"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          {isUnsaved && (
            <Notice tone="warning">
              {t('O que você não salvou fica de fora: salve antes, se quiser testar.')}
            </Notice>
          )}
          <VariableFields
            names={prompt.variables}
            values={fields.values}
            faults={faults}
            onChange={(values) => setTyped({ ...typed, values })}
          />
          <RunFieldset
            prompt={prompt}
            keys={keys}
            fields={fields}
            faults={faults}
            onChange={(change) => setTyped({ ...typed, ...change })}
          />
          <Disclosure summary={t('Ver o texto que vai ser enviado')}>
            <div className="max-h-80 overflow-y-auto rounded-lg bg-sunken p-3">
              <PromptText body={prompt.body} values={fields.values} />
            </div>
          </Disclosure>
          {run.error && <RunFault error={run.error} />}
          <div className="flex justify-end">
            <Button
              type="submit"
              isBusy={run.isPending}
              disabled={keys.data?.length === 0}
              icon={<Play aria-hidden="true" className="size-4" />}
            >
              {run.isPending ? t('Executando…') : t('Executar')}
            </Button>
          </div>
        </form>
      </Card>
      <div ref={result} className="lg:sticky lg:top-6">
        <RunResult answer={run.data} isPending={run.isPending} />
      </div>
    </div>
  )
}

function RunFault({ error }: { readonly error: Error }) {
  const way = error instanceof ApiError ? wayOut(error.code) : undefined
  return (
    <Notice tone="danger" role="alert">
      {explainRunError(error)}
      {way && (
        <>
          {' '}
          <Link to={way.to} className="underline underline-offset-4">
            {way.text}
          </Link>
        </>
      )}
    </Notice>
  )
}

function useRun({ id }: Prompt) {
  const queries = useQueryClient()
  return useSubmit({
    mutationFn: (input: RunInput) => api.post('/me/prompts/{id}/run', input, { path: { id } }),
    // The run was charged, so balance and usage are stale too.
    onSuccess: () =>
      Promise.all(
        [[...PROMPTS, 'runs', id], ['dashboard-stats'], ['usage'], ['sessions'], ['runway']].map(
          (queryKey) => queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
}

import { useQuery } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api, type Answer } from '../../../api/client.ts'
import { ApiError } from '../../../api/api-error.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { Select } from '../../../components/Select.tsx'
import { counted } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import { t } from '../../../language/t.ts'
import { upstreamsQuery } from '../upstreams/upstream-queries.ts'
import { useAct } from '../use-act.ts'

type Imported = Answer<'post', '/admin/upstream-costs'>

/** As the API takes it. */
const CHARS_MAX = 200_000

/** Imports an invoice of an upstream, as the CSV that its console exports. */
export function ImportCosts() {
  const { data } = useQuery(upstreamsQuery)
  const upstreams = data?.upstreams ?? []
  const [chosen, setChosen] = useState<string>()
  const [file, setFile] = useState<File>()
  const [fault, setFault] = useState<string>()
  const [round, setRound] = useState(0)
  const upstream = chosen ?? upstreams[0]?.id
  const add = useAct<{ upstream: string; csv: string }, Imported>({
    act: (body) => api.post('/admin/upstream-costs', body),
    doneText: ({ total_usd: total, open_days: open }) =>
      open === 0
        ? t('Fatura de {total} importada: bate com as nossas cobranças.', { total: usd(total) })
        : t('Fatura de {total} importada: {days}.', {
            total: usd(total),
            days: counted(open, t('dia não bate'), t('dias não batem')),
          }),
    onDone() {
      setFile(undefined)
      setRound(round + 1)
    },
  })
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const csv = (await file?.text()) ?? ''
    const found =
      csv === ''
        ? t('Escolha o arquivo.')
        : csv.length > CHARS_MAX
          ? t('O arquivo é grande demais: importe um mês por vez.')
          : undefined
    setFault(found)
    if (found === undefined && upstream !== undefined) add.mutate({ upstream, csv })
  }
  return (
    <Card
      title={t('Importar a fatura de um provedor')}
      description={t(
        'O CSV que o painel de custos do provedor exporta, ou um com day, cost_usd e talvez model. Até 31 dias; substitui o que já foi importado desses dias.',
      )}
    >
      <form onSubmit={(event) => void submit(event)} noValidate className="grid gap-5">
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label={t('Provedor')}>
            {(control) => (
              <Select
                {...control}
                value={upstream ?? ''}
                onChange={(event) => setChosen(event.target.value)}
              >
                {upstreams.map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t('Arquivo')} error={fault}>
            {(control) => (
              <Input
                {...control}
                key={round}
                type="file"
                accept=".csv,text/csv"
                onChange={(event) => setFile(event.target.files?.[0])}
              />
            )}
          </Field>
        </div>
        {add.error && (
          <Notice tone="danger" role="alert">
            {faultWords(add.error)}
          </Notice>
        )}
        <Button
          type="submit"
          variant="secondary"
          className="justify-self-start"
          isBusy={add.isPending}
        >
          {t('Importar')}
        </Button>
      </form>
    </Card>
  )
}

/** The details name the line that cannot be read. */
function faultWords(error: Error): string {
  const details = error instanceof ApiError && error.status === 400 ? error.details : undefined
  return details ?? explainError(error)
}

import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { useToast } from '../../components/Toast.tsx'
import { dateTime, today } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { csvOf } from '../../lib/csv.ts'
import { saveFile } from '../../lib/save-file.ts'
import { statusBadge } from './call-words.ts'
import { FILE_PAGE, readCalls, type Call, type ChargeFilters } from './usage-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The most calls of a file; the export of the whole usage has no limit. */
const CALLS_MAX = 10_000

/** Saves the calls that the filters select, also those that are not loaded yet. */
export function SaveCalls({ filters }: { readonly filters: ChargeFilters }) {
  const [count, setCount] = useState<number>()
  const toast = useToast()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const save = async (): Promise<void> => {
    const { signal } = (running.current = new AbortController())
    setCount(0)
    try {
      const calls: Call[] = []
      let cursor: string | undefined
      do {
        const page = await readCalls(filters, { cursor, limit: FILE_PAGE, signal })
        calls.push(...page.calls)
        cursor = page.next_cursor ?? undefined
        setCount(calls.length)
      } while (cursor !== undefined && calls.length < CALLS_MAX)
      saveFile(csvOf(HEAD(), calls.map(cellsOf)), `chamadas-${today()}.csv`)
      if (cursor !== undefined)
        toast(
          t('O arquivo tem as {callsMax} mais novas. Escolha um período menor.', {
            callsMax: wholeNumber(CALLS_MAX),
          }),
        )
    } catch (error) {
      if (!signal.aborted) toast(explainError(error), 'danger')
    } finally {
      if (!signal.aborted) setCount(undefined)
    }
  }
  return (
    <Button
      variant="secondary"
      isBusy={count !== undefined}
      icon={<Download aria-hidden="true" className="size-4" />}
      onClick={() => void save()}
    >
      {count ? t('{count} chamadas…', { count: wholeNumber(count) }) : t('Baixar estas chamadas')}
    </Button>
  )
}

const HEAD = perLanguage(() => [
  t('Quando'),
  t('Modelo'),
  t('Chave'),
  t('Sessão'),
  t('Situação'),
  t('Tokens de entrada'),
  t('Lidos do cache'),
  t('Tokens de saída'),
  t('Valor cobrado (BRL)'),
  t('Economia do cache (BRL)'),
  t('Economia da rota (BRL)'),
  t('Primeiro byte (ms)'),
  t('Duração (ms)'),
  t('Tokens por segundo'),
  t('ID da requisição'),
])

function cellsOf(call: Call) {
  return [
    dateTime(call.created_at),
    call.model_id,
    call.api_key_name ?? t('Painel'),
    call.session_id,
    statusBadge(call)?.text ?? t('cobrada'),
    call.prompt_tokens,
    call.cached_tokens,
    call.completion_tokens,
    call.cost_billed_brl,
    call.cache_saved_brl,
    call.routing_saved_brl,
    call.first_byte_ms,
    call.duration_ms,
    call.tokens_per_second,
    call.request_id,
  ]
}

import { Card } from '../../components/Card.tsx'
import { date } from '../../format/date.ts'
import { duration } from '../../format/duration.ts'
import { t } from '../../language/t.ts'
import { paceText } from '../usage/call-words.ts'
import { Bars, type Bar } from './Bars.tsx'
import type { ModelSpeed } from './speed-queries.ts'

interface Props {
  /** Undefined with too few calls to show. */
  readonly speed: ModelSpeed | undefined
  readonly days: number
  /** When it was measured. */
  readonly now: number
}

/** How fast the model answers everybody, over days. */
export function SpeedMeasures({ speed, days, now }: Props) {
  return (
    <Card
      title={t('Rapidez')}
      description={t(
        'Deste modelo, nos últimos {days} dias, nas respostas em stream de todos os clientes. Um número só aparece com ao menos dez respostas, de três clientes.',
        { days },
      )}
    >
      {speed ? (
        <div className="grid gap-5 sm:grid-cols-2">
          <Bars
            name={t('Tempo até o 1º byte')}
            words={medianWords(speed.first_byte_ms, duration)}
            bars={barsOf(speed, ({ first_byte_ms: ms }) => ms, duration, { days, now })}
          />
          <Bars
            name={t('Tokens por segundo')}
            words={medianWords(speed.tokens_per_second, paceWords)}
            bars={barsOf(speed, ({ tokens_per_second: pace }) => pace, paceWords, { days, now })}
          />
        </div>
      ) : (
        <p className="text-sm text-muted">
          {t('Ainda não há respostas o bastante deste modelo para mostrar um número.')}
        </p>
      )}
    </Card>
  )
}

export function paceWords(tokensPerSecond: number): string {
  return paceText({ tokens_per_second: tokensPerSecond })
}

function medianWords(value: number | null, write: (value: number) => string): string | undefined {
  return value === null ? undefined : t('mediana de {median}', { median: write(value) })
}

const DAY_MS = 86_400_000

/** The days are those of Brasília, wherever the reader is. */
function barsOf(
  { by_day }: ModelSpeed,
  valueOf: (of: Pick<ModelSpeed, 'first_byte_ms' | 'tokens_per_second'>) => number | null,
  write: (value: number) => string,
  { days, now }: { readonly days: number; readonly now: number },
): readonly Bar[] {
  const known = new Map(by_day?.map((each) => [each.day, valueOf(each)]))
  const today = new Date(now).toLocaleDateString('sv-SE', { timeZone: 'America/Sao_Paulo' })
  return Array.from({ length: days }, (_, place) => {
    const noon = new Date(Date.parse(`${today}T12:00:00Z`) - (days - 1 - place) * DAY_MS)
    const id = noon.toISOString().slice(0, 10)
    const value = known.get(id) ?? null
    return { id, value, title: `${date(noon, 'UTC')}: ${value === null ? '–' : write(value)}` }
  })
}

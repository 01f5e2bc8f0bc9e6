import { useQuery } from '@tanstack/react-query'
import { TrendingDown } from 'lucide-react'
import { sessionQuery } from '../../api/session.ts'
import { Card } from '../../components/Card.tsx'
import { Disclosure } from '../../components/Disclosure.tsx'
import { brl } from '../../format/brl.ts'
import { counted } from '../../format/number.ts'
import { CheaperModel, type ModelUse } from './CheaperModel.tsx'
import { recommendationsQuery } from './recommendations-query.ts'
import { t } from '../../language/t.ts'

const SHOWN = 2
/** Of all suggestions together: for less, nobody changes a model. */
const WORTH_BRL = 1

/** The savings on the customer's own usage with cheaper models. Hidden for visitors, who have no usage. */
export function Recommendations() {
  const { data: session } = useQuery(sessionQuery)
  const { data } = useQuery({ ...recommendationsQuery, enabled: Boolean(session) })
  // A failure of this extra is silent: the reader came for the catalog.
  if (!data) return null
  const cheaper = data.models
    .filter(({ suggestions }) => suggestions.length > 0)
    .sort((one, other) => savingOf(other) - savingOf(one))
  if (cheaper.length > 0 && data.total_saving_brl < WORTH_BRL) return null
  if (cheaper.length === 0) return <NothingYet days={data.days} isUsed={data.models.length > 0} />
  const more = cheaper.slice(SHOWN)
  return (
    <Card
      title={t('Você pagaria {totalSavingBrl} a menos com {cheaper}', {
        totalSavingBrl: brl(data.total_saving_brl),
        cheaper: withWhat(cheaper),
      })}
      description={t(
        'Pelo seu uso dos últimos {days} dias, com o mesmo número de tokens, em modelos que fazem o mesmo (ferramentas, imagens, contexto). A resposta pode mudar: experimente antes.',
        { days: data.days },
      )}
    >
      <ul className="divide-y divide-line">
        {cheaper.slice(0, SHOWN).map((use) => (
          <CheaperModel key={use.model_id} use={use} days={data.days} />
        ))}
      </ul>
      {more.length > 0 && (
        <Disclosure
          summary={t('Mais {more}', { more: counted(more.length, t('modelo'), t('modelos')) })}
        >
          <ul className="divide-y divide-line">
            {more.map((use) => (
              <CheaperModel key={use.model_id} use={use} days={data.days} />
            ))}
          </ul>
        </Disclosure>
      )}
    </Card>
  )
}

/** Names the best replacement when there is one model to replace; otherwise gives the number of models. */
function withWhat(cheaper: readonly ModelUse[]): string {
  const [first] = cheaper
  return (cheaper.length === 1 && first?.suggestions[0]?.model_name) || t('outros modelos')
}

function savingOf({ suggestions: [best] }: ModelUse): number {
  return best?.saving_brl ?? 0
}

function NothingYet({ days, isUsed }: { readonly days: number; readonly isUsed: boolean }) {
  return (
    <p className="flex items-start gap-3 text-sm text-muted">
      <TrendingDown aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      {isUsed
        ? t(
            'Nos últimos {days} dias, nenhum modelo que faz o mesmo sairia ao menos 10% mais barato para o seu uso. Quando houver um, ele aparece aqui.',
            { days },
          )
        : t(
            'Depois das suas primeiras chamadas a modelos de texto, mostramos aqui com quais você pagaria menos, e quanto.',
          )}
    </p>
  )
}

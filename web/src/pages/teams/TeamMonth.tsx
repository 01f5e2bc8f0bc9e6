import type { ReactNode } from 'react'
import { Card } from '../../components/Card.tsx'
import { readableBrl } from '../../format/brl.ts'
import { wholeNumber } from '../../format/number.ts'
import { CapBar } from './CapBar.tsx'
import type { Team } from './team-queries.ts'
import { moneyWords } from './team-words.ts'
import { t } from '../../language/t.ts'

export function TeamMonth({ team }: { readonly team: Team }) {
  return (
    <Card title={t('Este mês')} description={moneyWords(team)}>
      <CapBar team={team} />
      <dl className="mt-5 grid grid-cols-2 gap-4 sm:grid-cols-3">
        <Figure name={t('Chamadas')}>{wholeNumber(team.requests_this_month)}</Figure>
        <Figure name={t('Tokens')}>{wholeNumber(team.tokens_this_month)}</Figure>
        {team.held_brl > 0 && (
          <Figure name={t('Reservado agora')}>{readableBrl(team.held_brl)}</Figure>
        )}
      </dl>
    </Card>
  )
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col-reverse justify-end">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  )
}

import { Link } from '@tanstack/react-router'
import { exactBrl } from '../../format/brl.ts'
import { counted } from '../../format/number.ts'
import { scaledBy } from '../../format/exact-decimal.ts'
import { sessionIdOf, type Conversation } from './conversation.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const DECIMALS = 9

/** The cost of every answer, including replaced ones. */
export function ConversationCost({ conversation }: { readonly conversation: Conversation }) {
  const { costs, id } = conversation
  if (costs.length === 0) return null
  return (
    <p className="text-xs text-muted tabular-nums">
      <Trans
        id="Esta conversa: {strong}"
        values={{ strong: <strong className="text-ink">{exactBrl(sumOf(costs))}</strong> }}
      />
      <span className="max-sm:hidden">
        {' '}
        <Trans
          id="em {costs}"
          values={{ costs: counted(costs.length, t('resposta'), t('respostas')) }}
        />
      </span>
      .{' '}
      <Link
        to="/sessoes/$id"
        params={{ id: sessionIdOf(id) }}
        className="inline-block py-1 font-medium text-accent underline underline-offset-4"
      >
        {t('Ver a cobrança')}
      </Link>
    </p>
  )
}

/** In BRL. */
export function sumOf(costs: readonly number[]): number {
  const sum = costs.reduce((total, cost) => total + scaledBy(cost, DECIMALS), 0n)
  return Number(sum) / 10 ** DECIMALS
}
